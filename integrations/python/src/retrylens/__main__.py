"""`python -m retrylens`: the program that was installed with this package."""

import os
import subprocess
import sys
import sysconfig


def program():
    """The path of the program: beside this interpreter, or where `pip install --user` and `--target` put it."""
    name = "retrylens" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else os.name + "_user"
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        os.path.join(package, "bin"),
        os.path.join(package, "Scripts"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit("retrylens: the program is in none of " + ", ".join(folders) + "; install the package again")


def main():
    arguments = [program(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(arguments, check=False).returncode)
    os.execv(arguments[0], arguments)


if __name__ == "__main__":
    main()
