"""The public headers as pages: each class, function and enumeration with the comment above it."""

import re
from dataclasses import dataclass, field

# Tables of the binary interface, and what keeps old spellings alive: nobody calls these by name.
INTERNAL = re.compile(r"Tables|Impl|Legacy|Safe|BlockTables")
SCOPE = re.compile(r"^(?:enum class|class|struct) (?:CAMSHAFT_API )?(\w+)")
SKIPPED = re.compile(r"^(using namespace|friend|static_assert|typedef struct|template <>)|_INTERNAL\(|= delete"
                     r"|^~| ~|override = default")


@dataclass
class Entry:
    text: str  # the declaration, without its body
    comment: str
    members: list = field(default_factory=list)

    @property
    def scope(self):
        found = SCOPE.match(self.text)
        return found[1] if found else None


def without_body(text):
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*(\{|;|: \w+\().*$", "", text)
    # Nothing throws, so that saying it everywhere is noise.
    return re.sub(r"\b(CAMSHAFT_API|inline) | noexcept\b", "", text)


class Reader:
    """Reads a header that clang-format laid out: a declaration ends with ';' or its body's brace."""

    def __init__(self, text):
        self.lines = iter(text.replace("\\\n", " ").splitlines())
        self.intro = ""

    def comment_lines(self, lines):
        return " ".join(line.strip().lstrip("/").strip() for line in lines)

    def entries(self, closing=None, is_enum=False):
        found, comments, is_public = [], [], True
        for line in self.lines:
            code = line.strip()
            if closing is not None and code.startswith(closing):
                break
            if code.startswith("//"):
                comments.append(code)
            elif code == "" or code.startswith("#"):
                if comments and not self.intro:
                    self.intro = self.comment_lines(comments)
                comments = []
            elif re.match(r"(public|protected|private):", code):
                is_public, comments = code.startswith("public"), []
            elif code.startswith(("namespace", "}  // namespace", 'extern "C" {')):
                comments = []
            elif is_enum:
                name, _, behind = code.partition("//")
                text = self.comment_lines(comments) or behind.strip()
                found.append(Entry(name.strip().rstrip(","), text))
                comments = []
            else:
                entry = self.declaration(code, self.comment_lines(comments))
                if is_public and entry and not SKIPPED.search(entry.text):
                    found.append(entry)
                comments = []
        return found

    def declaration(self, code, comment):
        while not re.search(r"[;{}]$", re.sub(r"\s*//.*", "", code)):
            if (more := next(self.lines, None)) is None:
                return None
            code += " " + more.strip()
        code, _, behind = code.partition(" //") if code.rstrip().count("//") == 1 else (code, "", "")
        if re.match(r"(class|struct) \w+;", code):
            return None  # declared here, defined elsewhere
        entry = Entry(without_body(code), comment or behind.strip())
        if entry.scope and code.rstrip().endswith("{"):
            entry.members = self.entries("};", entry.text.startswith("enum"))
        else:
            depth = code.count("{") - code.count("}")
            while depth > 0 and (more := next(self.lines, None)) is not None:
                depth += more.count("{") - more.count("}")
        return entry


def listed(member, indent=""):
    text = f"{indent}- `{member.text}`" + (f"  \n{indent}  {member.comment}" if member.comment else "")
    return "\n".join([text, *(listed(inner, indent + "    ") for inner in member.members)])


def page(header):
    """The page of one header, or None for one without declarations."""
    reader = Reader(header.read_text(encoding="utf-8"))
    entries = [entry for entry in reader.entries() if entry.text]
    if not entries:
        return None
    lines = [f"# {header.name}", "", reader.intro, ""]
    for entry in entries:
        if entry.scope:
            lines += [f"## {entry.scope}", "", entry.comment, "", "```cpp", entry.text, "```", ""]
            lines += [listed(member) for member in entry.members]
        else:
            lines += ["```cpp", entry.text, "```", "", entry.comment]
        lines.append("")
    return "\n".join(lines)


def pages(include):
    """(name, text) of each public header's page."""
    for header in sorted(include.glob("*.h")):
        if not INTERNAL.search(header.stem) and (text := page(header)):
            yield header.stem, text
