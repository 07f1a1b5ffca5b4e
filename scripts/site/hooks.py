"""What MkDocs adds to the pages of docs/: the API reference, made from headers, stub and docstrings."""

import pathlib
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_reference  # noqa: E402
import python_reference  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Links that leave docs/ lead to the sources, wherever the site is looked at.
OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)(#[^)]*)?\)")


def first_sentence(page):
    """Of what stands under the title."""
    found = re.match(r"# .*\n\n((?!#|- |```)\S[^\0]*?\.)\s", page)
    return found[1].replace("\n", " ") if found else ""


def reference():
    """(address, text) of each page of the reference, an index of all first."""
    groups = {
        "C++": [(f"reference/cpp/{name}.md", name + ".h", text)
                for name, text in cpp_reference.pages(ROOT / "include")],
        "Python": [(f"reference/python/{name}.md", name, text)
                   for name, text in python_reference.pages(ROOT / "python/camshaft",
                                                            ROOT / "build/python/camshaft/_camshaft.pyi")],
    }
    index = ["# Reference", "", "No function of the C++ API throws: what fails returns null or false, with the reason in "
             "the log. Python raises `camshaft.Error` with it.", ""]
    for group, pages in groups.items():
        index += [f"## {group}", "", "| | what it has |", "|---|---|"]
        index += [f"| [{title}]({address.removeprefix('reference/')}) | {first_sentence(text)} |"
                  for address, title, text in pages] + [""]
    yield "reference/index.md", "\n".join(index)
    for pages in groups.values():
        yield from ((address, text) for address, _, text in pages)


def on_files(files, config):
    for address, text in reference():
        files.append(File.generated(config, address, content=text))
    return files


def on_page_markdown(markdown, **_):
    return OUTSIDE.sub(lambda match: f"](#){{title='{match[1]} in the repository'}}", markdown)
