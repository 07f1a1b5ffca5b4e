"""T5, Whisper and CLIP from transformers: encoders, decoders with and without a past, two towers."""

import torch
import transformers
from cases import TEXT, WEIGHT_SPREAD, Case, text
from torch import nn
from transformers import DynamicCache, EncoderDecoderCache

SOURCE = {0: "batch", 1: "source"}


class T5Encoder(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = t5_model(attention).encoder

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


class Decoder(nn.Module):
    """A first step of decoding: no past, the keys and values of both attentions come out."""

    named_arguments = 3

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, hidden, mask, *past):
        cache = past_of(past) if past else EncoderDecoderCache(DynamicCache(), DynamicCache())
        output = self.model(decoder_input_ids=input_ids, encoder_outputs=(hidden,),
                            attention_mask=mask, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        return output.logits, *present(cache.self_attention_cache), *(
            () if past else present(cache.cross_attention_cache))


class WhisperDecoder(Decoder):
    """The same without a mask, since recordings are padded with silence."""

    named_arguments = 2

    def forward(self, input_ids, hidden, *past):
        return super().forward(input_ids, hidden, None, *past)


def past_of(tensors):
    """A cache from keys and values of self-attention, layer by layer, then of cross-attention."""
    half = len(tensors) // 2
    return EncoderDecoderCache(*(DynamicCache(list(zip(part[0::2], part[1::2])))
                                 for part in (tensors[:half], tensors[half:])))


def present(cache):
    return [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]


def cache_axes(kind, layers, length):
    return {f"{kind}.{i}.{part}": {0: "batch", 2: length}
            for i in range(layers) for part in ("key", "value")}


def t5_model(attention):
    return transformers.T5ForConditionalGeneration(transformers.T5Config(  # the defaults are small's
        attn_implementation=attention, decoder_start_token_id=0))


def t5_encoder(attention):
    return Case(T5Encoder(attention),
                lambda batch, larger=False: text(batch, 40 if larger else 24),
                {"input_ids": TEXT, "attention_mask": TEXT}, {"last_hidden_state": TEXT})


def t5_inputs(batch, larger=False):
    source = 30 if larger else 20
    _, mask = text(batch, source)
    return torch.randint(0, 30000, (batch, 7 if larger else 5)), torch.randn(
        batch, source, 512), mask


def t5_decoder(attention):
    return Case(Decoder(t5_model(attention)), t5_inputs,
                {"input_ids": TEXT, "encoder_hidden_states": SOURCE,
                 "encoder_attention_mask": SOURCE},
                {"logits": TEXT} | cache_axes("present.self", 6, "sequence")
                | cache_axes("present.cross", 6, "source"))


def t5_decoder_past(attention):
    def inputs(batch, larger=False):
        new, old = (2, 9) if larger else (3, 6)
        _, hidden, mask = t5_inputs(batch, larger)
        source = hidden.shape[1]
        return torch.randint(0, 30000, (batch, new)), hidden, mask, *(
            torch.randn(batch, 8, length, 64) for length in [old] * 12 + [source] * 12)

    return Case(Decoder(t5_model(attention)), inputs,
                {"input_ids": TEXT, "encoder_hidden_states": SOURCE,
                 "encoder_attention_mask": SOURCE}
                | cache_axes("past.self", 6, "past") | cache_axes("past.cross", 6, "source"),
                {"logits": TEXT} | cache_axes("present.self", 6, "total"))


def whisper_model(attention):
    return transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        attn_implementation=attention, init_std=WEIGHT_SPREAD))  # the defaults are tiny's


class WhisperEncoder(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = whisper_model(attention).model.encoder

    def forward(self, input_features):
        return self.model(input_features).last_hidden_state


def whisper_encoder(attention):
    return Case(WhisperEncoder(attention),
                lambda batch, larger=False: (torch.randn(batch, 80, 3000),),
                {"input_features": {0: "batch"}}, {"last_hidden_state": {0: "batch"}})


def whisper_inputs(batch, larger=False):
    return torch.randint(0, 50000, (batch, 7 if larger else 4)), torch.randn(batch, 1500, 384)


def whisper_decoder(attention):
    return Case(WhisperDecoder(whisper_model(attention)), whisper_inputs,
                {"input_ids": TEXT, "encoder_hidden_states": {0: "batch"}},
                {"logits": TEXT} | cache_axes("present.self", 4, "sequence")
                | cache_axes("present.cross", 4, "source"))


def whisper_decoder_past(attention):
    def inputs(batch, larger=False):
        new, old = (2, 9) if larger else (3, 6)
        ids, hidden = whisper_inputs(batch)
        return ids[:, :new], hidden, *(torch.randn(batch, 6, length, 64)
                                       for length in [old] * 8 + [1500] * 8)

    past = cache_axes("past.self", 4, "past")
    cross = {name: {0: "batch"} for name in cache_axes("past.cross", 4, "")}
    return Case(WhisperDecoder(whisper_model(attention)), inputs,
                {"input_ids": TEXT, "encoder_hidden_states": {0: "batch"}} | past | cross,
                {"logits": TEXT} | cache_axes("present.self", 4, "total"))


class ClipText(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = transformers.CLIPTextModelWithProjection(transformers.CLIPTextConfig(
            attn_implementation=attention, eos_token_id=2))  # as published: the end is the largest token

    def forward(self, input_ids, attention_mask):
        output = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return output.text_embeds, output.last_hidden_state


def clip_text(attention):
    def inputs(batch, larger=False):
        ids, mask = text(batch, 40 if larger else 24)
        ids[torch.arange(batch), mask.sum(1) - 1] = 49407  # the end, whose state is the result
        return ids, mask

    return Case(ClipText(attention), inputs, {"input_ids": TEXT, "attention_mask": TEXT},
                {"text_embeds": {0: "batch"}, "last_hidden_state": TEXT})


class ClipVision(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.model = transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(
            attn_implementation=attention))

    def forward(self, pixel_values):
        output = self.model(pixel_values=pixel_values)
        return output.image_embeds, output.last_hidden_state


def clip_vision(attention):
    return Case(ClipVision(attention),
                lambda batch, larger=False: (torch.randn(batch, 3, 224, 224),),
                {"pixel_values": {0: "batch"}},
                {"image_embeds": {0: "batch"}, "last_hidden_state": {0: "batch"}})
