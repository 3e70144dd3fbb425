# SPDX-License-Identifier: Apache-2.0
"""python -m holotrace.torch build | where"""
import argparse
import sys

from .._errors import Error
from . import _build


def main():
    parser = argparse.ArgumentParser(prog="python -m holotrace.torch", description=_build.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    build = verbs.add_parser("build", help="build for the torch of this Python")
    build.add_argument("--force", action="store_true", help="build again")
    build.add_argument("--verbose", action="store_true", help="show the compiler's command")
    verbs.add_parser("where", help="show the file, whether it is there or not")
    args = parser.parse_args()
    try:
        if args.verb == "where":
            print(_build.target())
        else:
            print(_build.build(args.force, print if args.verbose else lambda text: None))
    except Error as error:
        sys.exit(f"holotrace.torch: {error}")


main()
