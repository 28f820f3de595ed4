#!/usr/bin/env python3
"""The bill of materials, in CycloneDX 1.5: which crates are in the programs, and which build them.

sbom.py SOURCE TARGET FEATURES VERSION EPOCH > trammel-VERSION.cdx.json
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote

import crates
from crates import Crate


def reference(name: str, version: str) -> str:
    """The package's address (purl)."""
    return f"pkg:cargo/{name}@{quote(version)}"


def component(crate: Crate) -> dict[str, object]:
    address = reference(crate.name, crate.version)
    about: dict[str, object] = {
        "type": "library",
        "bom-ref": address,
        "name": crate.name,
        "version": crate.version,
        # What builds the program is not in it.
        "scope": "required" if crate.is_linked else "excluded",
        "licenses": [{"expression": crate.licence}],
        "purl": address,
    }
    if crate.sha256:
        about["hashes"] = [{"alg": "SHA-256", "content": crate.sha256}]
    return about


def others(source: Path) -> list[dict[str, object]]:
    """What is in the programs and no crate: Rust's library, and what draws plots in reports."""
    rust = subprocess.run(["rustc", "-V"], stdout=subprocess.PIPE, text=True, check=True).stdout
    plot = (source / "crates/report/assets/uplot/uPlot.iife.min.js").read_text()
    version = re.search(r"uPlot \(v(\S+)\)", plot)
    assert version, "uPlot says its version in its first line"
    rows = [
        (f"pkg:generic/rust-std@{rust.split()[1]}", "MIT OR Apache-2.0"),
        (f"pkg:npm/uplot@{version[1]}", "MIT"),
    ]
    return [
        {
            "type": "library",
            "bom-ref": address,
            "name": address.split("/")[1].split("@")[0],
            "version": address.split("@")[1],
            "scope": "required",
            "licenses": [{"expression": licence}],
            "purl": address,
        }
        for address, licence in rows
    ]


def bill(
    found: list[Crate], more: list[dict[str, object]], version: str, epoch: int
) -> dict[str, object]:
    time = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    whole = f"pkg:github/trammel/trammel@{version}"
    components = [component(crate) for crate in found] + more
    # Of the contents, so that the same release has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([whole, time, components]))
    tops = [reference(name, version) for name in crates.PACKAGES]
    tops += [str(one["bom-ref"]) for one in more]
    uses = [{"ref": whole, "dependsOn": tops}]
    for crate in found:
        below = sorted(reference(*key) for key in crate.uses)
        uses.append({"ref": reference(crate.name, crate.version), "dependsOn": below})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": {"components": [{"type": "application", "name": "scripts/release"}]},
            "component": {
                "type": "application",
                "bom-ref": whole,
                "name": "trammel",
                "version": version,
                "purl": whole,
                "licenses": [{"expression": "(Apache-2.0 OR MIT) AND GPL-2.0-only"}],
            },
        },
        "components": components,
        "dependencies": uses,
    }


def main() -> None:
    source, target, features, version, epoch = sys.argv[1:]
    found = crates.read(Path(source), target, features)
    whole = bill(found, others(Path(source)), version, int(epoch))
    json.dump(whole, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
