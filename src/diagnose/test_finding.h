// Findings for the tests of the rules: an op of four elements that failed at one of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "capture/sample.h"
#include "diagnose/catalogue.h"

namespace nanscope::test_finding {

using sample::kInf;
using sample::kNan;
using sample::real;

// A tensor of 4 elements, with this value at the failing one.
inline TensorFacts with(std::string name, std::string argument, double at) {
  TensorFacts tensor = sample::tensor(std::move(name), {4}, -1, 2, 0.5);
  tensor.argument = std::move(argument);
  tensor.at_index = {real(at)};
  Statistics& s = tensor.statistics;
  s.zeros = at == 0;
  s.negatives = at < 0;
  s.nan = std::isnan(at);
  s.pos_inf = at == kInf;
  s.neg_inf = at == -kInf;
  if (std::isfinite(at)) {
    s.min = std::min(*s.min, at);
    s.max = std::max(*s.max, at);
  }
  return tensor;
}

// The same without values at the failing element.
inline TensorFacts blind(TensorFacts tensor) {
  tensor.at_index.clear();
  return tensor;
}

inline Finding made(double value, std::string op, std::vector<TensorFacts> inputs,
                    std::string dtype = "float32") {
  Finding finding;
  finding.origin.op = std::move(op);
  finding.origin.site.code = "f(x)";
  finding.origin.indices = {{3}};
  finding.origin.value = real(value);
  finding.origin.nan = std::isnan(value);
  finding.origin.pos_inf = value == kInf;
  finding.origin.neg_inf = value == -kInf;
  finding.origin.numel = 4;
  finding.inputs = std::move(inputs);
  TensorFacts output = sample::tensor("", {4}, 0, 1, 0.5);
  output.dtype = dtype;
  for (TensorFacts& input : finding.inputs) input.dtype = dtype;
  finding.outputs = {output};
  // As the adapter tries it: with any one of its operands mended the element is finite.
  for (const TensorFacts& input : finding.inputs) {
    Experiment mended;
    mended.argument = argument_text(input);
    mended.given = real(1);
    mended.result = real(1);
    finding.experiments.push_back(mended);
  }
  return finding;
}

// Nothing was tried, or nothing that was tried helped.
inline Finding untried(Finding finding) {
  finding.experiments.clear();
  return finding;
}

// The operand was made again in float64, with this result of the op.
inline Finding made_again(Loss loss, double result, Finding finding) {
  Experiment again;
  again.kind = ExperimentKind::kMadeAgain;
  again.code = "(x * x).mean() - x.mean() ** 2";
  again.lost_at = again.code;
  again.lost_line = 38;
  again.loss = loss;
  again.guard = loss == Loss::kGuard ? "1e-6" : "";
  again.result = real(result);
  again.exactly = real(0.01);
  finding.experiments.push_back(again);
  return finding;
}

// In backward: this op of the program does not take the failing element.
inline Finding left_out(Finding finding) {
  finding.left_out_by = Link{"WhereBackward0",
                             sample::site("train.py", 12, "    y = torch.where(m, a, b)",
                                          "torch.where(m, a, b)", "forward"),
                             Phase::kForward, Role::kCleaned};
  return finding;
}

inline Finding in_backward(std::string node, Finding finding) {
  finding.origin.phase = Phase::kBackward;
  finding.origin.node = std::move(node);
  return finding;
}

inline Finding in_optimizer(Finding finding) {
  finding.origin.phase = Phase::kOptimizer;
  return finding;
}

// What a node saved in the forward.
inline TensorFacts saved(std::string name, const std::string& argument, double at) {
  TensorFacts tensor = with(std::move(name), argument, at);
  tensor.saved = true;
  tensor.remark = "saved by the forward";
  return tensor;
}

inline Maker made_by(std::string node, std::string code, std::vector<TensorFacts> tensors = {},
                     std::int64_t links_back = 0) {
  Maker maker;
  maker.node = std::move(node);
  maker.site = sample::site("train.py", 38, "    " + code, code, "forward");
  maker.tensors = std::move(tensors);
  maker.links_back = links_back;
  if (links_back == 0) maker.makes = "self";
  return maker;
}

// "id certainty"
inline std::string verdict(const Finding& finding) {
  const Cause cause = diagnose(finding);
  return cause.id + " " + std::string(word_of(cause.certainty));
}

inline std::string why_not(const Finding& finding, const std::string& id) {
  for (const Cause::Other& other : diagnose(finding).others)
    if (other.id == id) return other.why_not;
  return "(not among the others)";
}

inline bool is_evidence(const Finding& finding, const std::string& line) {
  const Cause cause = diagnose(finding);
  return std::find(cause.evidence.begin(), cause.evidence.end(), line) != cause.evidence.end();
}

}  // namespace nanscope::test_finding
