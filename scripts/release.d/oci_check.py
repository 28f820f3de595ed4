#!/usr/bin/env python3
"""Checks an image by the OCI image format: every digest, size and reference.

    oci_check.py IMAGE ROOT

Its file system is unpacked to `ROOT`, for whoever wants to run it. It shares no line with what
writes images.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

Files = dict[str, bytes]


def blob(files: Files, described: dict[str, object]) -> bytes:
    """What a descriptor refers to."""
    name = str(described["digest"])
    data = files.get("blobs/" + name.replace(":", "/"))
    assert data is not None, f"there is no blob {name}"
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == name, f"{name} has another digest"
    assert len(data) == described["size"], f"{name} has another size"
    return data


def main() -> None:
    image, root = sys.argv[1:]
    with tarfile.open(image) as archive:
        read = {file.name: archive.extractfile(file) for file in archive if file.isfile()}
        files = {name: data.read() for name, data in read.items() if data}
    assert json.loads(files["oci-layout"])["imageLayoutVersion"] == "1.0.0"
    (described,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(blob(files, described))
    config = json.loads(blob(files, manifest["config"]))
    assert config["os"] == "linux" and config["rootfs"]["type"] == "layers"
    layers = [blob(files, layer) for layer in manifest["layers"]]
    plain = [gzip.decompress(layer) for layer in layers]
    digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in plain]
    assert digests == config["rootfs"]["diff_ids"], "the layers are not those of the configuration"
    (older,) = json.loads(files["manifest.json"])
    names = ["blobs/sha256/" + layer["digest"][7:] for layer in manifest["layers"]]
    assert older["Layers"] == names and older["Config"][13:] == manifest["config"]["digest"][7:]
    # Nothing is in the archive that nothing names.
    assert len(files) == 3 + 2 + len(layers), sorted(files)
    for layer in plain:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            for file in archive:
                assert (file.uid, file.gid) == (0, 0) and not file.name.startswith(("/", "..")), (
                    file
                )
                archive.extract(file, root)
    entry = config["config"]["Entrypoint"][0]
    assert Path(root, entry.lstrip("/")).is_file(), f"the image has no {entry}"


if __name__ == "__main__":
    main()
