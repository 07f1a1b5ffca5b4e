"""The Python package as pages: the module's stub, and the functions written in Python, with their docstrings."""

import ast


def signature(node):
    arguments = ast.unparse(node.args)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){result}"


def is_public(node):
    return not getattr(node, "name", "_").startswith("_")


def documented(text, node, indent=""):
    comment = ast.get_docstring(node)
    lines = [f"{indent}- `{text}`"]
    if comment:
        lines[0] += "  "
        lines += [f"{indent}  {line}".rstrip() for line in comment.splitlines()]
    return lines


def of_class(node):
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    lines = [f"## {node.name}" + (f" ({bases})" if bases else ""), "", ast.get_docstring(node) or "", ""]
    values = [ast.unparse(member) for member in node.body if isinstance(member, (ast.Assign, ast.AnnAssign))]
    if values:
        lines += [", ".join(f"`{value}`" for value in values), ""]
    seen = set()
    for member in node.body:
        if not isinstance(member, ast.FunctionDef) or not (is_public(member) or member.name == "__init__"):
            continue
        decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
        if any(decorator.endswith(".setter") for decorator in decorators):
            continue
        if "property" in decorators:
            text = f"{member.name}: {ast.unparse(member.returns) if member.returns else 'Any'}"
        else:
            text = signature(member)
        if text not in seen:
            lines += documented(text, member)
        seen.add(text)
    return [*lines, ""]


def page(title, tree):
    lines = [f"# {title}", ""]
    if comment := ast.get_docstring(tree):
        lines += [comment, ""]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and is_public(node):
            lines += documented(signature(node), node)
    lines.append("")
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and is_public(node):
            lines += of_class(node)
    return "\n".join(lines)


def read(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def exported(package):
    """The package's own functions and classes, which private modules define."""
    tree = read(package / "__init__.py")
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1]
    for node in imports:
        names = {alias.name for alias in node.names}
        path = package.joinpath(*node.module.split(".")).with_suffix(".py")
        if path.exists():
            tree.body += [inner for inner in read(path).body if getattr(inner, "name", None) in names]
    return tree


def pages(package, stub):
    """(name, text) of the package's page, with the stub's when a build has made one, and of each public module."""
    tree = exported(package)
    if stub.exists():
        tree.body += read(stub).body
    yield "camshaft", page("camshaft", tree)
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        if name == "camshaft" or any(part.startswith("_") for part in name.split(".")) or ".cli" in name:
            continue
        text = page(name, read(path))
        if "- `" in text or "## " in text:
            yield name, text
