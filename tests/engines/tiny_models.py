"""Tiny random language models with a tokenizer, made on the spot."""

from pathlib import Path

import pytest

SENTENCES = (
    "The castle stood above the river and nobody had opened its gate for a hundred years.",
    "A spaceship came down behind the barn, and the dog walked over to look at it.",
    "Write a story about an owl. Once upon a time there was a lamp that would not go out.",
)
TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}{% endfor %}<s>assistant: "


def tiny_model(folder: Path, seed: int, tokens: int = 400, chat: bool = True, around: str = "$A") -> str:
    """A folder with a Llama of random weights; the same `tokens`, the same vocabulary.

    `around` is what the tokenizer puts around a text: "<s> $A" begins it, "<s> $A </s>" ends it too.
    """
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    transformers = pytest.importorskip("transformers", reason="needs the extra `local`")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=tokens, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    words.train_from_iterator(SENTENCES, trainer)
    if around != "$A":
        words.post_processor = processors.TemplateProcessing(around, special_tokens=[("<s>", 0), ("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = TEMPLATE if chat else None
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    shape = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        initializer_range=0.3,  # wide, so that no two tokens are equally likely
        bos_token_id=0,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(shape).save_pretrained(folder)
    return str(folder)
