// What conv_check.cpp checks and times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.h"

using camshaft::str;

struct Case {
  std::string name, graph;
  std::vector<int64_t> batches;
  bool isTimed = false;
  double products = 0;  // multiply-adds of one image
  double bytes = 0;     // of one image and its result
};

inline std::string pair(int64_t value) { return str("[", value, ", ", value, "]"); }

// A square image of `side`, padded so that stride 1 keeps its size.
inline Case layer(std::string name, int side, int inputs, int outputs, int kernel, int stride,
                  int groups, std::string_view activation, bool hasResidual) {
  const int pad = (kernel - 1) / 2, out = (side + 2 * pad - kernel) / stride + 1;
  const std::string result = str("[n, ", out, ", ", out, ", ", outputs, "]");
  Case c{.name = std::move(name), .batches = {1, 32}, .isTimed = true};
  c.graph = str("symbols n graph g(%x: f16[n, ", side, ", ", side, ", ", inputs, "], %w: f16[",
                outputs, ", ", inputs / groups, ", ", kernel, ", ", kernel, "], %b: f16[", outputs,
                "]", hasResidual ? str(", %r: f16", result) : "",
                ") { %y = Conv(%x, %w, %b) {strides = ", pair(stride),
                ", dilations = [1, 1], pads_begin = ", pair(pad), ", pads_end = ", pair(pad),
                ", groups = ", groups, ", channels_last = true}");
  if (hasResidual)
    c.graph += " epilogue(%r) {relu(add(x0:f16, x1:f16))}";
  else if (!activation.empty())
    c.graph += str(" epilogue() {", activation, "(x0:f16)}");
  c.graph += " return %y }";
  const double places = static_cast<double>(out) * out;
  c.products = places * outputs * inputs / groups * kernel * kernel;
  c.bytes = 2.0 * side * side * inputs + 2.0 * places * outputs * (hasResidual ? 2 : 1);
  return c;
}

inline Case odd(std::string name, std::string graph) {
  return {.name = std::move(name), .graph = std::move(graph), .batches = {3, 1}};
}

inline std::vector<Case> allCases() {
  std::vector<Case> cases = {
      odd("odd 3x3 scale",
          "symbols n graph g(%x: f16[n, 9, 7, 40], %w: f16[72, 40, 3, 3], %b: f32[72], %r: f16[n, "
          "9, 7, 72], %s: f16[n, 1, 1, 72]) { %y = Conv(%x, %w, %b) {channels_last = true, strides "
          "= [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} epilogue(%r, %s) "
          "{relu(mul(add(x0:f16, x1:f16), x2:f16))} return %y }"),
      odd("odd stem bf16",
          "symbols n graph g(%x: bf16[n, 37, 33, 3], %w: bf16[30, 3, 5, 7], %b: f32[30]) { %y = "
          "Conv(%x, %w, %b) {channels_last = true, strides = [2, 2], dilations = [1, 1], "
          "pads_begin = [2, 3], pads_end = [2, 3]} epilogue() {silu(x0:bf16)} return %y }"),
      odd("odd groups dilated",
          "symbols n graph g(%x: f16[n, 19, 17, 64], %w: f16[50, 32, 2, 2], %b: f32[50]) { %y = "
          "Conv(%x, %w, %b) {channels_last = true, strides = [2, 1], dilations = [2, 3], "
          "pads_begin = [1, -1], pads_end = [0, 2], groups = 2} return %y }"),
      odd("odd deep 1d",
          "symbols n graph g(%x: f16[n, 50, 1032], %w: f16[136, 1032, 3], %b: f32[136]) { %y = "
          "Conv(%x, %w, %b) {channels_last = true, strides = [1], dilations = [1], pads_begin = "
          "[1], pads_end = [0]} return %y }"),
      odd("odd depthwise f32",
          "symbols n graph g(%x: f32[n, 13, 11, 21], %w: f32[21, 1, 3, 5], %b: f32[21]) { %y = "
          "Conv(%x, %w, %b) {channels_last = true, strides = [2, 1], dilations = [1, 2], "
          "pads_begin = [1, 2], pads_end = [0, 3], groups = 21} return %y }"),
      odd("odd depthwise bf16",
          "symbols n graph g(%x: bf16[n, 15, 9, 76], %w: bf16[76, 1, 7, 7], %b: bf16[76]) { %y = "
          "Conv(%x, %w, %b) {channels_last = true, strides = [1, 1], dilations = [1, 1], "
          "pads_begin = [3, 3], pads_end = [3, 3], groups = 76} epilogue() {hard_swish(x0:bf16)} "
          "return %y }"),
      odd("odd product",
          "symbols n graph g(%x: f16[n, 45, 1032], %w: f16[1032, 136], %r: f16[n, 45, 136]) { %y = "
          "MatMul(%x, %w) epilogue(%r) {relu(add(x0:f16, x1:f16))} return %y }"),
      odd("odd transposed",
          "symbols n graph g(%x: f16[n, 45, 72], %w: f16[135, 72], %s: f32[45, 1]) { %y = "
          "MatMul(%x, %w) {transpose_b = true} epilogue(%s) {cast(mul(cast(x0:f16, f32), x1:f32), "
          "f16)} return %y }"),
      odd("odd batches",
          "symbols n graph g(%x: bf16[n, 3, 45, 200], %v: bf16[3, 33, 200]) { %y = MatMul(%x, %v) "
          "{transpose_b = true} return %y }")};
  const auto add = [&](const char* net, int side, int inputs, int outputs, int kernel, int stride,
                       std::string_view activation, bool hasResidual = false) {
    cases.push_back(layer(str(net, " ", kernel, "x", kernel, stride > 1 ? "s2 " : " ", inputs, ">",
                              outputs, " @", side),
                          side, inputs, outputs, kernel, stride, 1, activation, hasResidual));
  };
  const auto addDepthwise = [&](const char* net, int side, int channels, int kernel, int stride,
                                std::string_view activation) {
    cases.push_back(
        layer(str(net, " dw ", kernel, "x", kernel, stride > 1 ? "s2 " : " ", channels, " @", side),
              side, channels, channels, kernel, stride, channels, activation, false));
  };
  add("resnet", 224, 3, 64, 7, 2, "relu");
  add("resnet", 56, 64, 64, 1, 1, "relu");
  add("resnet", 56, 64, 64, 3, 1, "relu");
  add("resnet", 56, 64, 256, 1, 1, "", true);
  add("resnet", 56, 256, 64, 1, 1, "relu");
  add("resnet", 56, 128, 128, 3, 2, "relu");
  add("resnet", 56, 256, 512, 1, 2, "");
  add("resnet", 28, 128, 128, 3, 1, "relu");
  add("resnet", 28, 128, 512, 1, 1, "", true);
  add("resnet", 28, 512, 128, 1, 1, "relu");
  add("resnet", 28, 256, 256, 3, 2, "relu");
  add("resnet", 14, 256, 256, 3, 1, "relu");
  add("resnet", 14, 256, 1024, 1, 1, "", true);
  add("resnet", 14, 1024, 256, 1, 1, "relu");
  add("resnet", 14, 512, 512, 3, 2, "relu");
  add("resnet", 7, 512, 512, 3, 1, "relu");
  add("resnet", 7, 512, 2048, 1, 1, "", true);
  add("resnet", 7, 2048, 512, 1, 1, "relu");
  add("mobile", 224, 3, 16, 3, 2, "hard_swish");
  add("mobile", 56, 24, 72, 1, 1, "relu");
  add("mobile", 14, 112, 672, 1, 1, "hard_swish");
  add("mobile", 7, 960, 160, 1, 1, "");
  addDepthwise("mobile", 112, 16, 3, 1, "relu");
  addDepthwise("mobile", 112, 64, 3, 2, "relu");
  addDepthwise("mobile", 56, 72, 3, 1, "relu");
  addDepthwise("mobile", 28, 120, 5, 1, "relu");
  addDepthwise("mobile", 14, 672, 3, 1, "hard_swish");
  addDepthwise("mobile", 14, 672, 5, 2, "hard_swish");
  addDepthwise("mobile", 7, 960, 5, 1, "hard_swish");
  addDepthwise("efficient", 112, 32, 3, 1, "silu");
  addDepthwise("efficient", 56, 144, 5, 2, "silu");
  addDepthwise("efficient", 7, 1152, 5, 1, "silu");
  add("efficient", 7, 1152, 320, 1, 1, "");
  addDepthwise("convnext", 56, 96, 7, 1, "");
  addDepthwise("convnext", 14, 384, 7, 1, "");
  addDepthwise("convnext", 7, 768, 7, 1, "");
  return cases;
}
