// One generated kernel: its text, its operands and the shape of its launch. Sizes known while
// building are printed into the text as numbers; the others become parameters.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/kernel.h"

namespace camshaft::cuda {

// Names of element types in device code (device/prelude.cuh): as stored, and as computed with.
// Types that device code does not know have none.
std::string_view storageType(DataType type);
std::string_view computeType(DataType type);  // float for the floats narrower than 32 bits
inline bool isPrintable(DataType type) { return !storageType(type).empty(); }

struct LaunchShape {
  Dim grid[3] = {1, 1, 1};
  int block = 256;
  int sharedBytes = 0;  // dynamic shared memory
  int cluster = 1;      // blocks along x that are scheduled together
};

// How numbers of a quantised model (isQuantisationNumber) are printed, and what follows from them:
// as what is given for one, so that kernels which differ in them only are one text. Empty: as they
// are.
using NumberText = std::function<std::string(float)>;

// Used as: name the operands, append to `body`, call prepared(). The kernel is
//   extern "C" __global__ void NAME(const T0* x0, ..., U* y, ..., [void* workspace,] sizes...,
//                                   numbers...)
// with the operands, sizes and numbers in the order they were asked for.
class KernelText {
 public:
  // `name` says what the kernel does and for which types: it is what profilers and the inspector
  // show.
  KernelText(std::string name, const Node& node, const BuildContext& context);

  void input(const std::string& name, int nodeInput);  // nothing when the node leaves it out
  void packedInput(const std::string& name, TensorType type, std::vector<std::byte> bytes);
  void packedInput(const std::string& name, TensorType type,
                   std::function<std::vector<std::byte>()> pack);
  void output(const std::string& name, int nodeOutput = 0);
  void workspace(const std::string& name, Dim bytes);
  // One that begins with zeros, which blocks tell each other by how far they are.
  void zeroedWorkspace(const std::string& name, int64_t zeroedBytes, Dim otherBytes = 0);

  // A size as text: "768", or the name of the parameter that holds it (of type Index).
  std::string size(const Dim& dim);
  std::string number(const Dim& dim);  // the same as a long long, for sizes that are data

  // Makes each number an argument of the kernel, and returns its name.
  NumberText asArguments();

  // `Index` in device code is int, or long long when a tensor of the node may be too large for it.
  bool isWide() const { return isWide_; }

  void constant(std::string_view name, int64_t value);  // static constexpr int before the kernel
  void include(std::string_view deviceFile);            // deviceSource(), once

  std::string functions;  // what stands before the kernel
  std::string early;      // before it waits for the kernels before it: may read packed inputs only
  std::string body;

  // Refuses what cannot be launched at some sizes of the profile.
  Prepared prepared(const LaunchShape& shape);

 private:
  struct Parameter {
    std::string type, name;
  };
  size_t parameterOf(const Dim& dim);
  std::string whyNoLaunch(const LaunchShape& shape) const;

  std::string name_;
  const Node& node_;
  const BuildContext& context_;
  bool isWide_ = false;
  std::vector<std::string> included_;
  std::vector<Parameter> inputs_, outputs_;
  std::string workspaceName_;
  int64_t zeroedBytes_ = 0;
  std::vector<Dim> sizes_;
  std::vector<float> numbers_;
  Prepared prepared_;
};

// Appends the statements that compute `expr` from values of the given names (of the inputs'
// compute types) and returns the name of the result. `prefix` keeps names of several expressions
// apart.
std::string printExpr(const Expr& expr, std::span<const std::string> inputs,
                      std::string_view prefix, std::string& body, const NumberText& number = {});
// The same for results of which several are then stored together: they are numbers of `type`, and
// `pack` is what makes an array of them elements (device/bytes.cuh).
struct PrintedElement {
  std::string result;
  std::string_view type, pack;
};
PrintedElement printElement(const Expr& expr, std::span<const std::string> inputs,
                            std::string_view prefix, std::string& body,
                            const NumberText& number = {});
// Why an expression cannot be printed; empty when it can.
std::string whyNotPrinted(const Expr& expr);
// One number as text of a compute type.
std::string literal(double value, DataType type);

// The scalar operations as device functions, op::Add<T>(a, b) and so on.
std::string_view scalarFunctions();

// Text of a file of device code, by its path below backends/cuda ("device/prelude.cuh"), or of
// scalar_math.h. It is embedded in the library.
std::string_view deviceSource(std::string_view file);

}  // namespace camshaft::cuda
