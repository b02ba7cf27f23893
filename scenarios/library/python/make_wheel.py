#!/usr/bin/env python3
"""make wheel: the program, its libraries and the package as a wheel, with type stubs from `lockstep schema ask`.

    make_wheel.py PROGRAM FOLDER
PROGRAM finds libraries beside itself ($ORIGIN). What it is linked with goes along, but for the C library.
"""

import base64
import hashlib
import keyword
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

C_LIBRARY = re.compile(r"^(libc|libm|ld-linux-.*|libpthread|libdl)\.so")


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def libraries(program):
    for line in said("ldd", program).splitlines():
        found = re.match(r"\s*(\S+) => (/\S+)", line)
        if found and not C_LIBRARY.match(found.group(1)):
            yield found.group(1), found.group(2)


def stubs(program):
    lines = ["from typing import Any, Optional, Union", "",
             "Value = Union[str, float, bool, list]", "",
             "class Problem(Exception):", "    status: int", "    def __init__(self, text: str, status: int) -> None: ...", "",
             "class Answer(dict[str, Any]):", "    question: dict[str, Any]",
             "    def tables(self) -> list[str]: ...",
             "    def columns(self, table: Optional[str] = ...) -> dict[str, list[Any]]: ...",
             "    def page(self, timeout: Optional[float] = ...) -> str: ...", "",
             "def program() -> str: ...",
             "def ask(question: dict[str, Any], *typed: str, timeout: Optional[float] = ...) -> Any: ...",
             "def schema(kind: str = ...) -> dict[str, Any]: ..."]
    for name, question in json.loads(said(program, "schema", "ask"))["$defs"].items():
        options = ["*words: str"]
        for option, about in question["properties"].items():
            if option in ("ask", "words"):
                continue
            if keyword.iskeyword(option):
                continue
            kind = about.get("type")
            kind = "bool" if kind == ["boolean"] else "dict[str, Any]" if kind == "object" else "Value"
            options.append(f"{option}: Optional[{kind}] = ...")
        options.append("timeout: Optional[float] = ...")
        if question["additionalProperties"]:
            options.append("**others: Value")
        lines += [f"def {name}(", *(f"    {option}," for option in options[:-1]),
                  "    " + options[-1] + ("" if options[-1].startswith("**") else ","),
                  ") -> Any: ..." if name == "run" else ") -> Answer: ..."]  # run: or a list of them
    return "\n".join(lines) + "\n"


def terms(path):
    """What the Debian package of a library says of its authors and terms: (package, text)."""
    file = os.path.realpath(path)
    for name in (path, file, file.replace("/usr/lib/", "/lib/", 1)):
        found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False).stdout
        if found:
            package = found.split(":")[0]
            with open(f"/usr/share/doc/{package}/copyright", "rb") as text:
                return package, text.read()
    sys.exit(f"make_wheel: {path} is of no Debian package, so that its terms are not known")


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main():
    program, folder = sys.argv[1:]
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lockstep")
    version = said(program, "--version").split()[1]
    machine = os.uname().machine
    glibc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{glibc}_{machine}"
    about = f"lockstep_sim-{version}.dist-info"
    files = {}
    for name in sorted(os.listdir(here)):
        if name.endswith(".py"):
            with open(os.path.join(here, name), "rb") as file:
                files[f"lockstep/{name}"] = file.read()
    files["lockstep/__init__.pyi"] = stubs(program).encode()
    files["lockstep/py.typed"] = b""
    for name, path in [("lockstep", program), *libraries(program)]:
        with open(path, "rb") as file:
            files[f"lockstep/bin/{name}"] = file.read()
    with open("COPYING", "rb") as file:
        files[f"{about}/licenses/COPYING"] = file.read()
    for _, path in libraries(program) if shutil.which("dpkg") else ():
        package, text = terms(path)
        files[f"{about}/licenses/{package}"] = text
    files[f"{about}/METADATA"] = (f"Metadata-Version: 2.1\nName: lockstep-sim\nVersion: {version}\n"
                                  "Summary: Simulator of GPU clusters and distributed training\n"
                                  "License: GPL-3.0-or-later\nRequires-Python: >=3.9\n").encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},{digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    path = os.path.join(folder, f"lockstep_sim-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # the same bytes each time
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.startswith("lockstep/bin/") else 0o100644) << 16
            wheel.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    main()
