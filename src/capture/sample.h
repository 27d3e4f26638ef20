// Captures for the tests: one of each kind of finding, built by hand.
//
// Header only and used by tests alone. The numbers are those of small real
// programs, so the reports read like real ones.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "records/capture.h"

namespace nanscope::sample {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline Value real(double value) { return {value, 0, false}; }

inline Site site(std::string file, int line, std::string source, const std::string& code,
                 std::string function) {
  Site site;
  site.file = std::move(file);
  site.line = site.end_line = line;
  // Columns count characters; the samples here are ASCII unless set by hand.
  const std::size_t at = source.find(code);
  site.col = static_cast<int>(at == std::string::npos ? 0 : at);
  site.end_col = at == std::string::npos ? 0 : site.col + static_cast<int>(code.size());
  site.code = code;
  site.function = std::move(function);
  site.source = {std::move(source)};
  return site;
}

inline TensorFacts tensor(std::string name, std::vector<std::int64_t> shape, double min, double max,
                          double mean) {
  TensorFacts facts;
  facts.name = std::move(name);
  facts.dtype = "float32";
  facts.shape = std::move(shape);
  facts.statistics.numel = 1;
  for (const std::int64_t size : facts.shape) facts.statistics.numel *= size;
  facts.statistics.min = min;
  facts.statistics.max = max;
  facts.statistics.mean = mean;
  return facts;
}

// -(y * torch.log(p)).mean() with three exact zeros in p.
inline Finding log_of_zero() {
  Finding finding;
  Origin& origin = finding.origin;
  origin.op = "aten::log";
  origin.site =
      site("train.py", 41, "    return -(y * torch.log(p)).mean()", "torch.log(p)", "loss_fn");
  origin.stack = {
      {"train.py", 41, "loss_fn"}, {"train.py", 58, "train"}, {"train.py", 66, "<module>"}};
  origin.module = "net.head";
  origin.step = 12;
  origin.rank = 0;
  origin.indices = {{2, 5}, {3, 1}, {7, 7}};
  origin.value = real(-kInf);
  origin.neg_inf = 3;
  origin.numel = 64;
  origin.per_element = true;

  TensorFacts p = tensor("p", {8, 8}, 0, 0.993162, 0.312204);
  p.statistics.zeros = 3;
  p.at_index = {real(0), real(0), real(0)};
  p.argument = "self";
  finding.inputs = {p};
  TensorFacts out = tensor("", {8, 8}, -7.25, -0.00686148, -1.8);
  out.statistics.negatives = 64;
  out.statistics.neg_inf = 3;
  out.at_index = {real(-kInf), real(-kInf), real(-kInf)};
  finding.outputs = {out};

  const Site mul =
      site("train.py", 41, "    return -(y * torch.log(p)).mean()", "y * torch.log(p)", "loss_fn");
  const Site step = site("train.py", 60, "        optimizer.step()", "optimizer.step()", "train");
  finding.chain = {{"aten::log", origin.site, Phase::kForward, Role::kBirth},
                   {"aten::mul", mul, Phase::kForward, Role::kCarrier},
                   {"aten::mean", mul, Phase::kForward, Role::kCarrier},
                   {"", step, Phase::kOptimizer, Role::kHarm}};
  finding.harm = Harm{HarmKind::kGradient, step, 12, "net.head.weight", ""};
  return finding;
}

// The slope of sqrt at zero, found in backward.
inline Finding sqrt_gradient() {
  Finding finding;
  Origin& origin = finding.origin;
  origin.phase = Phase::kBackward;
  origin.op = "aten::div";
  origin.node = "SqrtBackward0";
  origin.site = site("penalty.py", 7, "norm = torch.sqrt((g ** 2).sum(1))",
                     "torch.sqrt((g ** 2).sum(1))", "gradient_penalty");
  origin.indices = {{0}};
  origin.value = real(kInf);
  origin.pos_inf = 1;
  origin.numel = 4;
  origin.per_element = true;
  TensorFacts grad = tensor("", {4}, 0.25, 0.25, 0.25);
  grad.at_index = {real(0.25)};
  grad.argument = "self";
  TensorFacts root = tensor("", {4}, 0, 3.5, 1.75);
  root.statistics.zeros = 1;
  root.at_index = {real(0)};
  root.argument = "other";
  finding.inputs = {grad, root};
  finding.outputs = {tensor("", {4}, 0.0714286, 0.25, 0.14)};
  finding.harm = Harm{HarmKind::kGradient, std::nullopt, 0, "critic.0.weight", ""};
  return finding;
}

// A NaN in a table of training data.
inline Finding imported() {
  Finding finding;
  Origin& origin = finding.origin;
  origin.kind = OriginKind::kImported;
  origin.phase = Phase::kData;
  origin.op = "aten::addmm";
  origin.site = site("fit.py", 9, "    pred = model(x)", "model(x)", "main");
  origin.library_site = site("torch/nn/modules/linear.py", 134,
                             "        return F.linear(input, self.weight, self.bias)",
                             "F.linear(input, self.weight, self.bias)", "forward");
  origin.module = "model";
  origin.indices = {{17, 2}};
  origin.value = real(kNan);
  origin.nan = 1;
  origin.numel = 96;
  TensorFacts x = tensor("x", {32, 3}, -2.1, 2.4, 0.031);
  x.statistics.nan = 1;
  x.statistics.negatives = 47;
  x.at_index = {real(kNan)};
  x.argument = "mat1";
  finding.inputs = {tensor("model.bias", {1}, 0.1, 0.1, 0.1), x,
                    tensor("model.weight.t()", {3, 1}, -0.4, 0.5, 0.02)};
  finding.chain = {{"aten::addmm", origin.site, Phase::kForward, Role::kImported}};
  finding.harm =
      Harm{HarmKind::kLoss, site("fit.py", 11, "    loss.backward()", "loss.backward()", "main"), 0,
           "loss", ""};
  return finding;
}

// An -inf that a softmax cleaned.
inline Finding note() {
  Finding finding;
  finding.level = Level::kNote;
  finding.origin.op = "aten::log";
  finding.origin.site = site("attend.py", 20, "w = mask.log().softmax(-1)", "mask.log()", "attend");
  finding.origin.indices = {{0, 3}};
  finding.origin.value = real(-kInf);
  finding.origin.neg_inf = 6;
  finding.origin.numel = 16;
  finding.origin.per_element = true;
  TensorFacts mask = tensor("mask", {4, 4}, 0, 1, 0.625);
  mask.statistics.zeros = 6;
  mask.at_index = {real(0)};
  finding.inputs = {mask};
  finding.count = 120;
  return finding;
}

inline Program program() {
  Program program;
  program.argv = {"train.py", "--epochs", "3"};
  program.python = "3.11.2";
  program.torch = "2.13.0";
  program.pid = 4242;
  program.host = "node7";
  program.exit_status = 3;
  program.ended = Ended::kStopped;
  return program;
}

inline Coverage coverage() { return {12'345, 1'234'567'890, 13, {}, {}, {}, 0}; }

inline Capture capture(std::vector<Finding> findings) {
  Capture capture;
  capture.program = program();
  capture.findings = std::move(findings);
  capture.coverage = coverage();
  return capture;
}

}  // namespace nanscope::sample
