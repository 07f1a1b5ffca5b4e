// Regions of interest, cut out of feature maps and brought to one size.
#include "ops/roi.h"

#include <cmath>

#include "onnx/formula.h"
#include "onnx/ops/crop.h"
#include "onnx/ops/range.h"
#include "onnx/ops/tensorrt/boxes.h"
#include "onnx/ops/tensorrt/fields.h"
#include "onnx/size.h"
#include "onnx/size_rules.h"

namespace camshaft::onnx::importer {

// ONNX's RoiAlign, whose choices are numbers here.
void importRoiAlignPlugin(NodeImport& node) {
  const auto choiceIn = [&](std::string_view field) {
    const int64_t choice = integerIn(node, field, 1);
    if (choice != 0 && choice != 1)
      node.invalid("its field '", field, "' must be 0 or 1 and is ", choice);
    return choice == 1;
  };
  RoiAlignAttrs attrs;
  attrs.mode = choiceIn("mode") ? RoiAlignMode::kAverage : RoiAlignMode::kMax;
  attrs.halfPixel = choiceIn("coordinate_transformation_mode");
  attrs.height = positiveIn(node, "output_height", 1);
  attrs.width = positiveIn(node, "output_width", 1);
  attrs.samplingRatio = integerIn(node, "sampling_ratio", 0);
  attrs.scale = numberIn(node, "spatial_scale", 1);
  node.setOutput(node.add(&ops::RoiAlign, {node.input(0), node.input(1), node.input(2)}, attrs));
}

namespace {

// Boxes [N, R, 4] or [N, R, 4, 1] as a list [N * R, 4].
Value* listOf(const NodeImport& node, Value* boxes) {
  const Shape& shape = boxes->shape();
  requireSize(node, shape[2], "numbers per box", 4);
  if (boxes->rank() == 4) requireSize(node, shape[3], "elements of a box's number", 1);
  return node.reshape(boxes, {shape[0] * shape[1], 4});
}

// The boxes of every image, [y1, x1, y2, x2] in fractions of it, as [N, R, C, height, width].
Value* cropped(const NodeImport& node, Value* x, Value* boxes, const Dim& count, int64_t height,
               int64_t width) {
  const Dim &images = x->shape()[0], &channels = x->shape()[1];
  Value* places = cropPlaces(node, boxes, height, width);
  places = node.reshape(places, {images, count * height, width, 2});
  Value* sampled = samplePlaces(node, x, places, {});
  sampled = node.reshape(sampled, {images, channels, count, height, width});
  return node.transpose(sampled, {0, 2, 1, 3, 4});
}

}  // namespace

void importCropAndResizePlugin(NodeImport& node) {
  Value *x = node.input(0, 4), *boxes = node.input(1, Ranks(3, 4));
  requireSize(node, boxes->shape()[0], "lists of boxes", x->shape()[0]);
  const Dim count = boxes->shape()[1];
  const int64_t height = positiveIn(node, "crop_height", 7);
  const int64_t width = positiveIn(node, "crop_width", 7);
  Value* list = node.cast(listOf(node, boxes), x->dataType());
  node.setOutput(cropped(node, x, list, count, height, width));
}

namespace {

struct PyramidFields {
  int64_t pooled, scale, transform, samplingRatio;
  std::vector<int64_t> image;  // height, width
  bool absolute, swap, plusOne;
};

PyramidFields pyramidFields(const NodeImport& node) {
  PyramidFields fields;
  const bool isLegacy = flagIn(node, "legacy");
  fields.pooled = positiveIn(node, "pooled_size", 7);
  fields.scale = isLegacy ? 158 : positiveIn(node, "fpn_scale", 224);
  fields.transform = isLegacy ? -1 : integerIn(node, "roi_coords_transform", 2);
  fields.samplingRatio = isLegacy ? 1 : integerIn(node, "sampling_ratio", 0);
  fields.image = integersIn(node, "image_size", {1024, 1024});
  fields.absolute = !isLegacy && flagIn(node, "roi_coords_absolute", true);
  fields.swap = isLegacy || flagIn(node, "roi_coords_swap");
  fields.plusOne = !isLegacy && flagIn(node, "roi_coords_plusone");
  if (fields.image.size() != 2 || fields.image[0] < 1 || fields.image[1] < 1)
    node.invalid("its image_size must be two positive numbers");
  const bool crops = fields.transform == -1 && fields.samplingRatio == 1 && fields.pooled > 1;
  if (fields.transform != 1 && fields.transform != 2 && !crops)
    node.unsupported("its roi_coords_transform is ", fields.transform,
                     ", where 2 (half_pixel), 1 (output_half_pixel) and, with one sample, -1 are");
  return fields;
}

// Sides [R, 1] of boxes in fractions of the image, in order.
struct Sides {
  Value *top, *left, *bottom, *right;
};

Sides sidesOf(const NodeImport& node, Value* boxes, const PyramidFields& fields) {
  const auto side = [&](int64_t i, int64_t other, bool isLow, int64_t size) {
    Formula formula;
    const Term a = formula.input(0, DataType::kF32), b = formula.input(1, DataType::kF32);
    const double scale = fields.absolute ? static_cast<double>(size) : 1.0;
    const Term inside = larger(smaller(isLow ? smaller(a, b) : larger(a, b), scale), 0.0);
    return node.pointwise({node.slice(boxes, 1, i, 1), node.slice(boxes, 1, other, 1)},
                          formula.take(inside / scale));
  };
  const int64_t y = fields.swap ? 0 : 1, x = 1 - y;
  return {side(y, y + 2, true, fields.image[0]), side(x, x + 2, true, fields.image[1]),
          side(y, y + 2, false, fields.image[0]), side(x, x + 2, false, fields.image[1])};
}

// The part of the image that boxes cover, [R, 1].
Value* areaOf(const NodeImport& node, const Sides& sides, const PyramidFields& fields) {
  Formula formula;
  const auto extent = [&](int low, int high, int64_t size) {
    const double more = fields.plusOne ? 1.0 / static_cast<double>(size) : 0.0;
    return formula.input(high, DataType::kF32) - formula.input(low, DataType::kF32) + more;
  };
  const Term height = extent(0, 2, fields.image[0]), width = extent(1, 3, fields.image[1]);
  return node.pointwise({sides.top, sides.left, sides.bottom, sides.right},
                        formula.take(height * width));
}

// Boxes of one map [N, C, H, W], all of them, as [N * R, C, pooled, pooled].
Value* pooledOf(const NodeImport& node, Value* map, const Sides& sides, Value* images,
                const Dim& perImage, const PyramidFields& fields) {
  const Shape& shape = map->shape();
  const Dim count = sides.top->shape()[0];
  if (fields.transform == -1) {
    Value* boxes = node.concat({sides.top, sides.left, sides.bottom, sides.right}, 1);
    return node.reshape(cropped(node, map, boxes, perImage, fields.pooled, fields.pooled),
                        {count, shape[1], fields.pooled, fields.pooled});
  }
  // Boxes stay inside the map, so no sample is beyond its border. RoiAlign takes half a pixel off.
  const double shift = fields.transform == 1 ? 0.5 : 0;
  const auto inPixels = [&](Value* side, const Dim& size) {
    Formula formula;
    const Term pixels = cast(formula.input(1, DataType::kI64), DataType::kF32);
    const Term result = formula.input(0, DataType::kF32) * pixels + shift;
    return node.pointwise({side, sizeTensor(node, size)}, formula.take(result));
  };
  Value* boxes = node.concat({inPixels(sides.left, shape[3]), inPixels(sides.top, shape[2]),
                              inPixels(sides.right, shape[3]), inPixels(sides.bottom, shape[2])},
                             1);
  RoiAlignAttrs attrs;
  attrs.height = attrs.width = fields.pooled;
  attrs.samplingRatio = fields.samplingRatio;
  return node.add(&ops::RoiAlign, {map, boxes, images}, attrs);
}

// Large boxes are taken from coarse maps. Every map is asked for all of them, and the one that a
// box belongs to is chosen: how many belong to each only a run knows. A map takes boxes whose area,
// [R, 1, 1, 1], is above the threshold, four times that of the map before.
template <class PooledOf>
Value* chosenByArea(const NodeImport& node, Value* area, double threshold,
                    const PooledOf& pooledOfMap) {
  Value* result = nullptr;
  for (int i = 1; i < node.inputCount(); ++i) {
    Value* pooled = pooledOfMap(i, node.input(i, 4));
    if (i > 1) {
      Formula formula;
      const Term isLarge = formula.input(0, DataType::kF32) > threshold;
      const DataType type = pooled->dataType();
      const Term chosen = where(isLarge, formula.input(1, type), formula.input(2, type));
      pooled = node.pointwise({area, pooled, result}, formula.take(chosen));
      threshold *= 4;
    }
    result = pooled;
  }
  if (!result) node.invalid("it lacks its feature maps");
  return result;
}

// Which image each box of [N * R] is of.
Value* imagesOf(const NodeImport& node, const Dim& images, const Dim& count) {
  Value* image = node.reshape(counting(node, DataType::kI64, images), {images, 1});
  return node.reshape(node.expand(image, {images, count}), {images * count});
}

}  // namespace

void importPyramidRoiAlign(NodeImport& node) {
  const PyramidFields fields = pyramidFields(node);
  Value* boxes = node.input(0, 3);
  const Dim images = boxes->shape()[0], count = boxes->shape()[1];
  const Sides sides = sidesOf(node, node.cast(listOf(node, boxes), DataType::kF32), fields);
  Value* area = node.reshape(areaOf(node, sides, fields), {images * count, 1, 1, 1});
  Value* image = imagesOf(node, images, count);
  const double pixels = static_cast<double>(fields.image[0]) * static_cast<double>(fields.image[1]);
  auto threshold = static_cast<double>(fields.scale * fields.scale) / pixels / 4;
  if (flagIn(node, "legacy")) threshold = 224.0 * 224 * 2 / (1024.0 * 1024) / 16;
  Value* result = chosenByArea(node, area, threshold, [&](int, Value* map) {
    requireSize(node, map->shape()[0], "images in its maps", images);
    return pooledOf(node, map, sides, image, count, fields);
  });
  node.setOutput(
      node.reshape(result, {images, count, result->shape()[1], fields.pooled, fields.pooled}));
}

// Boxes (y1, x1, y2, x2) in pixels of the image, and maps of which each is half as large as the one
// before, the first a quarter of the image. One sample lies in the middle of each bin; what is no
// box in the image gives zeros.
void importMultilevelCropAndResize(NodeImport& node) {
  const int64_t pooled = positiveIn(node, "pooled_size", 7);
  const std::vector<int64_t> image = integersIn(node, "image_size", {3, 832, 1344});
  if (image.size() != 3) node.invalid("its field 'image_size' must hold three sizes");
  const Dim images = node.input(0, 3)->shape()[0], count = node.input(0)->shape()[1];
  Value* boxes = node.cast(listOf(node, node.input(0)), DataType::kF32);
  const auto side = [&](int64_t i) {
    return node.reshape(node.slice(boxes, 1, i, 1), {images * count, 1, 1, 1});
  };
  Formula formula;
  const Term y1 = formula.input(0, DataType::kF32), x1 = formula.input(1, DataType::kF32);
  const Term y2 = formula.input(2, DataType::kF32), x2 = formula.input(3, DataType::kF32);
  const Term height = where(y2 > static_cast<double>(image[1]), 0.0, y2 - y1);
  const Term width = where(x2 > static_cast<double>(image[2]), 0.0, x2 - x1);
  const Term isBox = (smaller(height, width) > 0) && (smaller(y1, x1) >= 0);
  Value* area = node.pointwise({side(0), side(1), side(2), side(3)},
                               formula.take(where(isBox, height * width, 0.0)));
  Value* which = imagesOf(node, images, count);
  Value* result = chosenByArea(node, area, 224.0 * 224 / 4, [&](int i, Value* map) {
    requireSize(node, map->shape()[0], "images in its maps", images);
    // RoiAlign takes half a pixel off.
    RoiAlignAttrs attrs;
    attrs.height = attrs.width = pooled;
    attrs.samplingRatio = 1;
    Value* scaled = node.binary(ScalarOp::kDiv, swappedAxes(node, boxes), std::exp2(i + 1));
    Value* shifted = node.binary(ScalarOp::kAdd, scaled, 0.5);
    return node.add(&ops::RoiAlign, {map, shifted, which}, attrs);
  });
  Formula inside;
  const Term value = inside.input(0, result->dataType());
  const Term isEmpty = inside.input(1, DataType::kF32) == 0.0;
  result = node.pointwise({result, area}, inside.take(where(isEmpty, 0.0, value)));
  node.setOutput(node.reshape(result, {images, count, result->shape()[1], pooled, pooled}));
}

}  // namespace camshaft::onnx::importer
