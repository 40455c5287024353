"""Train a tiny translation model on a CPU and let M-MAD choose the best epoch.

The model (random weights) and its tokenizer (the words below) are made here: nothing is
downloaded. Each epoch is evaluated on the same segments through `compute_metrics`. Prints a line
of JSON for each evaluation, then one for the best checkpoint.

    pip install "mmad-metric[local]" "transformers[torch]>=5" && mmad local setup
    python examples/train_with_mmad.py
    python examples/train_with_mmad.py --model gpt-4o-mini --sample 4 --epochs 6

Without options it rates with the embedded toy model: slow, and its scores mean nothing. On
several processes (`torchrun --nproc-per-node 2 ...`) the first one alone asks the model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)

from mmad_metric.integrations import trainer_metrics

PAIRS = (
    ("the house is red", "das Haus ist rot"),
    ("the house is old", "das Haus ist alt"),
    ("the book is new", "das Buch ist neu"),
    ("the book is red", "das Buch ist rot"),
    ("the car is old", "das Auto ist alt"),
    ("the car is new", "das Auto ist neu"),
    ("the child is here", "das Kind ist hier"),
    ("the child is small", "das Kind ist klein"),
)
EVALUATED = PAIRS[1::2]
REPEATED = 4  # times that an epoch goes through the pairs
LONGEST = 8  # tokens


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    with tempfile.TemporaryDirectory() as folder:
        trainer = build(options, options.output_dir or folder)
        trainer.train()
        if trainer.is_world_process_zero():
            report(trainer)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a tiny model, evaluated with M-MAD")
    parser.add_argument("--model", default="local", help="the judge, such as gpt-4o-mini")
    parser.add_argument("--base-url", help="address of an OpenAI-compatible server")
    parser.add_argument("--sample", type=int, default=1, help="segments rated each epoch")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--output-dir", help="where checkpoints stay (default: nowhere)")
    return parser.parse_args(arguments)


def build(options: argparse.Namespace, folder: str) -> Seq2SeqTrainer:
    set_seed(1)
    torch.set_num_threads(1)  # more would mostly wait for each other on a model as small as this
    tokenizer = word_tokenizer(word for pair in PAIRS for text in pair for word in text.split())
    metrics = trainer_metrics(
        tokenizer,
        n_segments=len(EVALUATED),
        lp="en-de",
        model=options.model,
        base_url=options.base_url,
        sample=options.sample,
        # Cheap settings for a toy; leave these three out for scores that mean something.
        prompts="brief",
        rounds=1,
        max_tokens=256,
    )
    model = tiny_model(len(tokenizer))
    return Seq2SeqTrainer(
        model=model,
        args=training_arguments(options.epochs, folder),
        train_dataset=rows(tokenizer, PAIRS * REPEATED),
        eval_dataset=rows(tokenizer, EVALUATED),
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        processing_class=tokenizer,
        compute_metrics=metrics,
    )


def training_arguments(epochs: int, folder: str) -> Seq2SeqTrainingArguments:
    return Seq2SeqTrainingArguments(
        output_dir=folder,
        num_train_epochs=epochs,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=2,
        learning_rate=5e-3,
        use_cpu=True,
        disable_tqdm=True,
        report_to="none",
        # What the metric needs: real translations, and the sources that they are of.
        predict_with_generate=True,
        generation_max_length=LONGEST,
        include_for_metrics=["inputs"],
        # An evaluation and a checkpoint each epoch; the best by M-MAD is kept.
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="mmad_score",
        greater_is_better=True,  # 0 is perfect, everything else below
    )


def word_tokenizer(words: Any) -> PreTrainedTokenizerFast:
    """A tokenizer whose tokens are whole words."""
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    known = [*special.values(), *sorted(set(words))]
    numbers = {word: number for number, word in enumerate(known)}
    inner = Tokenizer(models.WordLevel(numbers, unk_token=special["unk_token"]))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=inner, **special)


def tiny_model(n_tokens: int) -> T5ForConditionalGeneration:
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=n_tokens,
            d_model=32,
            d_kv=16,
            d_ff=64,
            num_layers=1,
            num_heads=2,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
    )
    # At first it would often say nothing at all, which no judge has to read.
    model.generation_config.min_new_tokens = 1
    model.generation_config.suppress_tokens = [0, 2]  # padding and unknown words
    return model


def rows(
    tokenizer: PreTrainedTokenizerFast, pairs: Sequence[tuple[str, str]]
) -> list[dict[str, list[int]]]:
    def numbers(text: str) -> list[int]:
        return [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]

    return [
        {"input_ids": (ids := numbers(source)), "attention_mask": [1] * len(ids),
         "labels": numbers(target)}
        for source, target in pairs
    ]  # fmt: skip


def report(trainer: Seq2SeqTrainer) -> None:
    for entry in trainer.state.log_history:
        if "eval_mmad_score" in entry:
            print(json.dumps(entry))
    best = {
        "best_model_checkpoint": trainer.state.best_model_checkpoint,
        "best_metric": trainer.state.best_metric,
    }
    print(json.dumps(best))


if __name__ == "__main__":
    main()
