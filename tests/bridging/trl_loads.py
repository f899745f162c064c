"""Load a training set with `datasets` and take a step with TRL's SFT and DPO trainers; prints what was seen as JSON.

Runs in an environment of its own (`make trl`), never as a test: python trl_loads.py FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "disabled", "CUDA_VISIBLE_DEVICES": ""}

from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LONGEST = 8192  # bytes, as a byte is a token here


def tokenizer() -> Any:
    """One token for each byte, and the marks of a chat template: nothing is fetched for it."""
    letters = {letter: at for at, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(vocab=letters, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|pad|>")
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = TEMPLATE
    return fast


def model(words: int, out: str) -> Any:
    """A language model of some ten thousand weights, from a folder, as DPO reads the model of reference from there."""
    made = GPT2LMHeadModel(GPT2Config(vocab_size=words, n_positions=LONGEST, n_embd=8, n_layer=1, n_head=1))
    made.save_pretrained(out)
    return GPT2LMHeadModel.from_pretrained(out)


def trainer(kind: str, rows: Any, out: str) -> Any:
    """TRL's trainer of "sft" or "dpo", given the splits as they were loaded."""
    words = tokenizer()
    common: dict[str, Any] = {
        "output_dir": f"{out}/{kind}", "max_steps": 1, "per_device_train_batch_size": 1, "report_to": [],
        "use_cpu": True, "max_length": LONGEST, "save_strategy": "no", "disable_tqdm": True, "bf16": False,
    }  # fmt: skip
    make, settings = (SFTTrainer, SFTConfig) if kind == "sft" else (DPOTrainer, DPOConfig)
    return make(
        model=model(len(words), f"{out}/model"), args=settings(**common), train_dataset=rows["train"],
        eval_dataset=rows.get("validation"), processing_class=words,
    )  # fmt: skip


def learnt(made: Any) -> str:
    """What a batch of the SFT trainer asks the model to say: the tokens that are not masked."""
    batch = next(iter(made.get_train_dataloader()))
    (ids, labels) = batch["input_ids"][0], batch["labels"][0]
    return str(made.processing_class.decode(ids[labels != -100]))


def seen(folder: Path, out: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("sft", "dpo"):
        if not (folder / kind).is_dir():
            continue
        rows = load_dataset(str(folder), kind, cache_dir=f"{out}/cache")
        made = trainer(kind, rows, out)
        learns = learnt(made) if kind == "sft" else ""
        loss = made.train().training_loss
        found[kind] = {
            "splits": {name: len(split) for name, split in rows.items()}, "columns": rows["train"].column_names,
            "rows": {name: split.to_list() for name, split in rows.items()}, "loss": loss, "learns": learns,
        }  # fmt: skip
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        result = seen(Path(sys.argv[1]), scratch)
    sys.stdout.write("\n" + json.dumps(result) + "\n")
