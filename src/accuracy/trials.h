// Builds of one network in different precisions: what they take, and how exact they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "accuracy/bound.h"
#include "accuracy/groups.h"
#include "accuracy/search.h"
#include "calibration/samples.h"
#include "compiler/compile.h"

namespace camshaft {

class PrecisionTrials {
 public:
  // `types` are the levels above 0 of a Mix. The options allow them, have ranges where kI8 is one,
  // and hold timings that all builds share.
  PrecisionTrials(Graph graph, CompileOptions options, std::vector<DataType> types,
                  const Samples& samples);

  const std::vector<PrecisionGroup>& groups() const { return groups_; }
  const std::vector<DataType>& types() const { return types_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  std::vector<std::string> names(const std::vector<int>& nodes) const;
  std::string operatorOf(int node) const;

  // Builds of level 0 time nothing.
  bool isTimed() const { return options_.optimizationLevel > 0; }
  // A build as it was asked for.
  struct Timed {
    Mix mix;                       // as it was built
    double milliseconds = 0;       // of all steps, as the tuner measured them
    std::vector<double> groups;    // of those that each group's work became
    std::vector<std::string> how;  // kernels and operands of these
    Plan plan;
  };
  // Where a group may be bytes, its products are where that is faster; where none is, the group
  // goes to `otherwise`, its level then.
  Timed timed(const Mix& mix, const Mix& otherwise) const;

  // Builds with nothing timed.
  Plan plain(const Mix& mix) const;
  Plan reference() const;  // in f32, without TF32
  std::vector<RunOutputs> run(Plan plan, std::span<const int> samples) const;

  // The group's numbers are too large for 16 bits: what is around its products stays f32.
  void keepFrom16Bits(int group) { beyond16_.insert(group); }

  // What makes an ordinary build this mix: types that nodes are asked for, by name.
  std::map<std::string, DataType> requests(const Mix& mix) const;

 private:
  enum class Bytes { kWhereFaster, kAlways };
  std::optional<DataType> requestOf(int group, bool isProduct, int level, Bytes bytes) const;
  Graph withRequests(const Mix& mix, Bytes bytes) const;
  Timed built(const Mix& mix, Bytes bytes) const;
  void settle();  // what follows from groups_
  void joinFused();
  int ownerOf(const Step& step) const;  // the node whose work it does first; -1: nobody's

  Graph graph_;
  CompileOptions options_;
  const std::vector<DataType> types_;
  const Samples& samples_;
  const bool storesTensors16_;
  std::vector<std::string> outputs_;
  std::vector<PrecisionGroup> groups_;
  std::vector<int> groupOf_;  // of each node
  std::vector<bool> isProduct_;
  std::set<int> beyond16_;
};

}  // namespace camshaft
