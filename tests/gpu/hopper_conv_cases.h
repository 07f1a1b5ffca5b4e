// What hopper_conv_check.cpp checks and times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/text.h"

using camshaft::str;

struct ConvCase {
  std::string name, graph;
  std::vector<int64_t> batches;
  double products = 0;  // multiply-adds of one image
};

// What follows the sums: nothing; of floats a bias and relu; or finished().
// The last: of bytes, as quantised networks have it, which round before they add.
enum class Finish { kPlain, kBias, kColumns, kResidual, kRounded };
inline bool hasResidual(Finish finish) {
  return finish == Finish::kResidual || finish == Finish::kRounded;
}

// A convolution with channels last; `spatial` and all lists have an entry for each dimension.
struct ConvShape {
  std::vector<int> spatial;
  int inputs, outputs;
  std::vector<int> kernel, strides, dilations, padsBegin, padsEnd;
};

inline std::string listOf(const std::vector<int>& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) text += str(i ? ", " : "", values[i]);
  return text + "]";
}

inline int outSize(const ConvShape& s, size_t i) {
  return (s.spatial[i] + s.padsBegin[i] + s.padsEnd[i] - (s.kernel[i] - 1) * s.dilations[i] - 1) /
             s.strides[i] +
         1;
}

// "[n, 7, 7, 64]"
inline std::string imageOf(const std::vector<int>& spatial, int channels) {
  std::string text = "[n";
  for (int size : spatial) text += str(", ", size);
  return str(text, ", ", channels, "]");
}

// What follows the sums, where it is more than a bias and relu: a scale and a bias for each channel
// and, of bytes, rounding; maybe another image and relu.
inline std::string finished(std::string_view type, Finish finish, bool isOfBytes) {
  const std::string real =
      isOfBytes || type == "f32" ? str("x0:", isOfBytes ? "i32" : "f32") : str("x0:", type);
  const std::string sum = type == "f32" && !isOfBytes ? real : str("cast(", real, ", f32)");
  std::string value = str("add(mul(", sum, ", x1:f32), x2:f32)");
  if (finish == Finish::kRounded) {
    const std::string byte = str("cast(min(max(add(round(div(", value,
                                 ", 0.7371:f32)), 114:f32), 0:f32), 255:f32), u8)");
    value = str("round(div(add(mul(sub(cast(", byte, ", f32), 114:f32), 0.7371:f32), ",
                "mul(sub(cast(x3:u8, f32), 96:f32), 0.21:f32)), 0.8191:f32))");
    return str("cast(min(max(", value, ", 0:f32), 255:f32), u8)");
  }
  if (finish == Finish::kResidual) value = str("relu(add(", value, ", cast(x3:", type, ", f32)))");
  if (!isOfBytes) return type == "f32" ? value : str("cast(", value, ", ", type, ")");
  const bool isSigned = type == "i8";
  return str("cast(min(max(round(", value, "), ", isSigned ? "-128" : "0", ":f32), ",
             isSigned ? "127" : "255", ":f32), ", type, ")");
}

// `type` of the images and, but for bytes' raw sums, of the result; floats of 8 bits give f16.
inline ConvCase convCase(std::string_view type, const ConvShape& s, Finish finish,
                         std::vector<int64_t> batches, std::string_view zeroPoint = {}) {
  const bool isOfBytes = type == "u8" || type == "i8", isOfFloat8 = type.substr(0, 2) == "f8";
  const std::string_view result = isOfFloat8 ? "f32" : type;
  const bool isBiased = finish == Finish::kBias;
  std::vector<int> out;
  double places = 1, taps = 1;
  std::string kernel;
  for (size_t i = 0; i < s.spatial.size(); ++i) {
    out.push_back(outSize(s, i));
    places *= out[i];
    taps *= s.kernel[i];
    kernel += str(", ", s.kernel[i]);
  }
  ConvCase c{.batches = std::move(batches)};
  c.products = places * taps * s.inputs * s.outputs;
  c.name = str(type, " ", listOf(s.spatial), " ", s.inputs, ">", s.outputs, " k", listOf(s.kernel),
               " s", listOf(s.strides), " d", listOf(s.dilations), " p", listOf(s.padsBegin),
               listOf(s.padsEnd),
               finish == Finish::kPlain     ? " plain"
               : isBiased                   ? " bias"
               : finish == Finish::kColumns ? " columns"
               : finish == Finish::kRounded ? " rounded"
                                            : " residual",
               zeroPoint.empty() ? "" : " zero point");
  const std::string weights = str("[", s.outputs, ", ", s.inputs, kernel, "]");
  c.graph =
      str("symbols n graph g(%x: ", type, imageOf(s.spatial, s.inputs),
          ", %w: ", isOfBytes ? "i8" : type, weights, ", %s: f32[", s.outputs,
          "], %b: ", isBiased ? result : "f32", "[", s.outputs, "]",
          hasResidual(finish) ? str(", %r: ", result, imageOf(out, s.outputs)) : "", ") { ",
          zeroPoint.empty() ? "" : str("%z: ", type, "[] = constant [", zeroPoint, "] "),
          "%y = ", isOfBytes ? "ConvInteger" : "Conv", "(%x, %w", isBiased ? ", %b" : "",
          zeroPoint.empty() ? "" : ", %z", ") {channels_last = true, strides = ", listOf(s.strides),
          ", dilations = ", listOf(s.dilations), ", pads_begin = ", listOf(s.padsBegin),
          ", pads_end = ", listOf(s.padsEnd), "}");
  if (isBiased) c.graph += str(" epilogue() {relu(x0:", result, ")}");
  if (finish == Finish::kColumns || hasResidual(finish))
    c.graph += str(" epilogue(%s, %b", hasResidual(finish) ? ", %r" : "", ") {",
                   finished(result, finish, isOfBytes), "}");
  c.graph += " return %y }";
  return c;
}

// Square windows padded alike on both sides.
inline ConvShape square(int side, int inputs, int outputs, int kernel, int stride, int dilation = 1,
                        int pad = -1) {
  if (pad < 0) pad = (kernel - 1) / 2 * dilation;
  return {{side, side},         inputs,     outputs,   {kernel, kernel}, {stride, stride},
          {dilation, dilation}, {pad, pad}, {pad, pad}};
}

inline std::vector<ConvCase> checkCases() {
  std::vector<ConvCase> cases;
  for (const char* type : {"u8", "f16", "i8", "bf16", "f8e4m3"}) {
    const bool isWhole = std::string_view(type) == "u8" || std::string_view(type) == "f16";
    const auto add = [&](const ConvShape& shape, Finish finish, std::vector<int64_t> batches) {
      cases.push_back(convCase(type, shape, finish, std::move(batches)));
    };
    add(square(7, 512, 512, 3, 1), Finish::kColumns, {1, 2, 32});
    add(square(7, 512, 512, 3, 1), Finish::kResidual, {1, 32});
    add(square(56, 64, 64, 3, 1), Finish::kColumns, {1, 2});
    add({{13, 11}, 16, 24, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, Finish::kPlain, {1, 2, 32});
    add({{15, 9}, 48, 40, {3, 3}, {2, 2}, {1, 1}, {1, 0}, {0, 1}}, Finish::kResidual, {1, 3});
    add({{12, 10}, 64, 64, {2, 2}, {2, 1}, {2, 3}, {1, -1}, {0, 2}}, Finish::kColumns, {2, 32});
    if (!isWhole) continue;
    add(square(14, 96, 96, 3, 1, 2), Finish::kResidual, {1, 2, 32});
    add(square(56, 128, 128, 3, 2), Finish::kColumns, {1, 2});
    add({{9, 31}, 256, 136, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, Finish::kResidual, {1, 32});
    add({{10, 12}, 32, 64, {5, 7}, {1, 1}, {1, 1}, {2, 3}, {2, 3}}, Finish::kColumns, {1, 2});
    add({{50}, 64, 72, {3}, {1}, {1}, {1}, {1}}, Finish::kColumns, {1, 32});
    add({{17, 19}, 192, 64, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, Finish::kColumns, {1, 5});
    add({{8, 8}, 80, 30, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}}, Finish::kColumns, {1, 7});
    add(square(5, 112, 64, 3, 1, 1, 0), Finish::kPlain, {1, 32});
    add({{40, 3}, 16, 16, {1, 3}, {8, 1}, {1, 1}, {0, 1}, {0, 1}}, Finish::kPlain, {3});
    add({{23, 29}, 32, 48, {3, 3}, {1, 1}, {7, 11}, {7, 11}, {7, 11}}, Finish::kColumns, {2});
  }
  // Single pixels, which are rows of a matrix.
  for (const char* type : {"u8", "f16"}) {
    cases.push_back(convCase(type, square(28, 64, 256, 1, 1), Finish::kResidual, {1, 3, 32}));
    cases.push_back(convCase(type, square(9, 80, 48, 1, 1), Finish::kResidual, {1, 7}));
  }
  cases.push_back(convCase("u8", square(28, 64, 256, 1, 1), Finish::kRounded, {1, 3, 32}));
  cases.push_back(convCase("u8", square(7, 512, 2048, 1, 1), Finish::kRounded, {1, 32}));
  cases.push_back(convCase("u8", square(11, 48, 144, 1, 1), Finish::kRounded, {1, 5}));
  cases.push_back(convCase("u8", square(11, 64, 48, 3, 1, 1, 0), Finish::kColumns, {1, 4}, "7"));
  cases.push_back(convCase("i8", square(9, 128, 64, 1, 2), Finish::kResidual, {1, 4}, "-128"));
  cases.push_back(convCase("u8", square(13, 64, 64, 3, 1), Finish::kColumns, {1, 4}, "7"));
  cases.push_back(convCase("i8", square(14, 48, 40, 5, 2), Finish::kResidual, {1, 4}, "-128"));
  cases.push_back(convCase("u8", square(3, 128, 64, 5, 1, 2, 4), Finish::kPlain, {1, 33}, "200"));
  return cases;
}

// ResNet-50's convolutions.
inline std::vector<ConvCase> timeCases() {
  std::vector<ConvCase> cases;
  for (const std::string_view type : {"u8", "f16"})
    for (const int64_t batch : {1, 32, 256})
      for (const ConvShape& shape :
           {square(56, 64, 256, 1, 1), square(28, 128, 512, 1, 1), square(14, 256, 1024, 1, 1),
            square(7, 512, 2048, 1, 1), square(56, 256, 64, 1, 1), square(14, 1024, 256, 1, 1),
            square(56, 64, 64, 3, 1), square(56, 128, 128, 3, 2), square(28, 128, 128, 3, 1),
            square(28, 256, 256, 3, 2), square(14, 256, 256, 3, 1), square(14, 512, 512, 3, 2),
            square(7, 512, 512, 3, 1), square(56, 256, 512, 1, 2), square(28, 512, 1024, 1, 2),
            square(14, 1024, 2048, 1, 2)}) {
        const bool isWidened = shape.kernel[0] == 1 && shape.outputs == 4 * shape.inputs;
        const Finish finish = type != "u8" ? isWidened ? Finish::kResidual : Finish::kBias
                              : isWidened  ? Finish::kRounded
                                           : Finish::kColumns;
        ConvCase c = convCase(type, shape, finish, {batch});
        c.graph.replace(0, c.graph.find("graph"), "");  // a fixed batch, as builds of one see it
        for (size_t at; (at = c.graph.find("[n,")) != std::string::npos;)
          c.graph.replace(at, 3, str("[", batch, ","));
        c.name = str(type, " ", shape.kernel[0], "x", shape.kernel[0],
                     shape.strides[0] > 1 ? " s2 " : " ", shape.inputs, ">", shape.outputs, " @",
                     shape.spatial[0], isWidened ? " +" : "");
        cases.push_back(std::move(c));
      }
  return cases;
}
