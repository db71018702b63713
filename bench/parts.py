"""The command line of a benchmark with several parts."""

import argparse
from collections.abc import Sequence


def chosen_parts(description: str, parts: Sequence[str]) -> list[str]:
    """Return the parts that the command line names, or all; ``--help`` prints the description and exits."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if not parts:
        parser.parse_args()
        return []
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(parts)}; default: all")
    named: list[str] = parser.parse_args().parts
    for part in named:
        if part not in parts:
            parser.error(f"{part!r} is not a part: choose from {', '.join(parts)}")
    return named or list(parts)
