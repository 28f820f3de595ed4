#!/usr/bin/env python3
"""An image of the program as one file, by the OCI image format 1.1, without a daemon.

    oci.py ROOT OUT VERSION EPOCH LEVEL

`ROOT` is the image's file system, which becomes its one layer. `OUT` is a tar archive of an image
layout: `oci-layout`, `index.json` and blobs by digest. `manifest.json` beside them is the older
form that every `docker load` reads.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path

import archive

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The words of Go, which the format uses, for those of `uname -m`."""
LICENCES = "(Apache-2.0 OR MIT) AND GPL-2.0-only"
"""The program carries patches to Linux as texts, which are under Linux's licence."""
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def encoded(value: object) -> bytes:
    """JSON with its keys in order."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def described(kind: str, data: bytes, **more: object) -> dict[str, object]:
    return {"mediaType": kind, "digest": digest(data), "size": len(data), **more}


def layer(root: Path, epoch: int) -> bytes:
    """The file system: what `root` has, a folder for temporary files, and one to work in."""
    data = io.BytesIO()
    with archive.tar(data) as files:
        archive.add_tree(files, root, "", epoch)
        archive.add_folder(files, "tmp", 0o1777, epoch)
        # Of anybody, since `--user` may be any.
        archive.add_folder(files, "work", 0o1777, epoch)
    return data.getvalue()


def config(plain: bytes, version: str, created: str) -> dict[str, object]:
    return {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "created": created,
        "config": {
            "Entrypoint": ["/usr/bin/trammel"],
            "Env": ["PATH=/usr/bin", "HOME=/work"],
            "WorkingDir": "/work",
            "Labels": {
                "org.opencontainers.image.title": "trammel",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": LICENCES,
                "org.opencontainers.image.source": "https://github.com/trammel/trammel",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(plain)]},
        "history": [{"created": created, "created_by": "scripts/release"}],
    }


def image(root: Path, version: str, epoch: int, level: int) -> bytes:
    """The archive of the image."""
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    plain = layer(root, epoch)
    packed = archive.compressed(plain, level)
    about = encoded(config(plain, version, created))
    manifest = encoded(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": described(CONFIG, about),
            "layers": [described(LAYER, packed)],
        }
    )
    name = f"trammel:{version}"
    names = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"docker.io/library/{name}",
    }
    index = {"schemaVersion": 2, "manifests": [described(MANIFEST, manifest, annotations=names)]}

    def blob(data: bytes) -> str:
        return "blobs/sha256/" + digest(data).removeprefix("sha256:")

    older = [{"Config": blob(about), "RepoTags": [name], "Layers": [blob(packed)]}]
    files = {
        "index.json": encoded(index),
        "manifest.json": encoded(older),
        "oci-layout": encoded({"imageLayoutVersion": "1.0.0"}),
        **{blob(data): data for data in (about, manifest, packed)},
    }
    data = io.BytesIO()
    with archive.tar(data) as whole:
        archive.add_folder(whole, "blobs", 0o755, epoch)
        archive.add_folder(whole, "blobs/sha256", 0o755, epoch)
        for name in sorted(files):
            archive.add(whole, name, files[name], 0o644, epoch)
    return data.getvalue()


def main() -> None:
    root, out, version, epoch, level = sys.argv[1:]
    Path(out).write_bytes(image(Path(root), version, int(epoch), int(level)))


if __name__ == "__main__":
    main()
