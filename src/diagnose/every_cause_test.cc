// Every cause, counted by its id: a plain finding, one in which the obvious suspect is innocent,
// and a look-alike that has another cause. What a cause rests on in detail is tested beside it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/causes.h"
#include "diagnose/test_finding.h"

namespace nanscope {
namespace {

using namespace test_finding;

struct Other {
  Finding finding;
  std::string cause;
};

struct Trial {
  std::string id;
  Finding plain;
  Other innocent;    // everything points to this cause, and it is not it
  Other look_alike;  // seen from afar it is the same
};

Finding times(double a, double b, std::int64_t step = 9) {
  Finding finding = made(kInf, "aten::mul", {with("a", "self", a), with("b", "other", b)});
  finding.origin.step = step;
  return finding;
}

Finding over(double a, double b, const std::string& dtype = "float32") {
  const bool nan = std::isnan(a / b);
  return made(nan ? kNan : kInf, "aten::div", {with("a", "self", a), with("b", "other", b)}, dtype);
}

Finding of(const std::string& op, double value, double x, const std::string& dtype = "float32") {
  return made(value, "aten::" + op, {with("x", "self", x)}, dtype);
}

Finding at(std::string code, Finding finding) {
  finding.origin.site.code = std::move(code);
  return finding;
}

Finding with_scalar(std::string name, std::string value, Finding finding) {
  finding.scalars.push_back({std::move(name), std::move(value)});
  return finding;
}

Finding exactly(double value, Finding finding) {
  finding.exact = real(value);
  return finding;
}

Finding from(OriginKind kind, Finding finding) {
  finding.origin.kind = kind;
  return finding;
}

Finding written(std::string line, Finding finding) {
  finding.origin.site.source = {std::move(line)};
  return finding;
}

Finding step_by_step(std::optional<double> StepRecord::*field, const std::vector<double>& values,
                     Finding finding) {
  for (const double value : values) {
    StepRecord record;
    record.*field = value;
    finding.history.push_back(record);
  }
  return finding;
}

Finding layer_by_layer(bool gradient, const std::vector<double>& sizes, Finding finding) {
  for (const double size : sizes) finding.magnitudes.push_back({"h", size, gradient});
  return finding;
}

// In the division of a backward node: the gradient, the divisor, what the forward saved.
Finding slope(const std::string& node, double gradient, double divisor, double kept) {
  Finding finding =
      in_backward(node, made(gradient == 0 ? kNan : kInf, "aten::div",
                             {with("", "self", gradient), with("", "other", divisor)}));
  finding.inputs.push_back(saved("x", node == "SqrtBackward0" ? "result" : "self", kept));
  return finding;
}

Finding norm_of(double length) {
  Finding finding =
      in_backward("LinalgVectorNormBackward0", made(kNan, "aten::div", {with("", "self", length)}));
  finding.inputs.push_back(saved("x", "result", length));
  return finding;
}

Finding discarded(double loss) {
  Finding finding = of("sqrt", kNan, -1);
  finding.harm = Harm{HarmKind::kGradient, std::nullopt, 0, "x", ""};
  finding.chain = {{"aten::sqrt", {}, Phase::kForward, Role::kBirth},
                   {"aten::div", {}, Phase::kBackward, Role::kCarrier}};
  return step_by_step(&StepRecord::loss, {loss}, finding);
}

TensorFacts row_of(double value) {
  TensorFacts row = with("scores", "self", value);
  if (value == -kInf) row.statistics.neg_inf = 4;
  return row;
}

TensorFacts nothing() {
  TensorFacts tensor = sample::tensor("losses", {0}, 0, 0, 0);
  tensor.statistics = {};
  return tensor;
}

Finding svd(const std::string& node, double lowest, double highest) {
  Finding finding = in_backward(node, made(kNan, "aten::mul", {with("", "self", 1)}));
  TensorFacts values = saved("", "S", 1);
  values.statistics.min = lowest;
  values.statistics.max = highest;
  finding.inputs.push_back(values);
  return finding;
}

Finding zero_weight(bool trained) {
  Finding finding = over(0, 0);
  TensorFacts weight = saved("W", "self", 0);
  weight.parameter = trained;
  weight.statistics.zeros = weight.statistics.numel;
  finding.makers = {made_by("LinalgVectorNormBackward0", "W.norm(dim=0)", {weight})};
  finding.makers[0].makes = "other";
  return finding;
}

Finding fused_adam(const std::string& eps) {
  Finding finding =
      made(kNan, "aten::_fused_adam_",
           {with("p", "self[0]", 1), with("g", "grads[0]", 0), with("v", "exp_avg_sqs[0]", 0)});
  finding.scalars = {{"eps", eps}};
  return in_optimizer(finding);
}

Finding warned(std::string id, double value = 1, double limit = 2) {
  Finding finding;
  finding.level = Level::kWarning;
  finding.forewarning = Forewarning{std::move(id), "net.weight", "float16", value, limit, 9};
  return finding;
}

Finding computed_unseen() {
  Finding finding =
      from(OriginKind::kUnwatched, made(kNan, "aten::mul", {with("y", "self", kNan)}));
  finding.makers = {made_by("CompiledFunctionBackward", "model(x)")};
  return finding;
}

// sqrt of what eager rounds to 0; `setting`: the region was compiled again with it, and is finite.
Finding only_compiled(std::string setting, OriginKind kind = OriginKind::kBirth) {
  Finding finding = from(kind, made(kNan, "aten::sqrt", {with("d", "self", -1e-6)}));
  finding.only_compiled = OnlyCompiled{.kernel = "cpp_fused_mul_rsub_sqrt_0",
                                       .rounded_to = "bfloat16",
                                       .setting = std::move(setting),
                                       .setting_value = "True"};
  return finding;
}

Finding received(std::vector<Giver> givers) {
  Finding finding = from(OriginKind::kReceived, made(kInf, "c10d::allreduce_", {}));
  finding.origin.collective = Collective{.op = "c10d::allreduce_",
                                         .group = "0",
                                         .sequence = 412,
                                         .ranks = 4,
                                         .reduces = true,
                                         .givers = std::move(givers),
                                         .givers_known = true};
  return finding;
}

std::vector<Trial> trials() {
  return {
      {"division_by_zero",
       over(1, 0),
       {over(1e30, 1e-20), "float_overflow"},
       {over(kInf, kInf), "zero_times_inf"}},
      {"log_of_zero",
       of("log", -kInf, 0),
       {of("log", kNan, -1), "log_of_negative"},
       {of("atanh", kInf, 1), "inverse_trig_domain"}},
      {"log_of_negative",
       of("log", kNan, -1),
       {of("log", -kInf, 0), "log_of_zero"},
       {of("log", kNan, kNan), "bad_input_data"}},
      {"sqrt_of_negative",
       of("sqrt", kNan, -1e-7),
       {of("rsqrt", kInf, 0), "division_by_zero"},
       {with_scalar("exponent", "0.5", of("pow", kNan, -1e-7)), "pow_domain"}},
      {"sqrt_gradient_at_zero",
       slope("SqrtBackward0", 1, 0, 0),
       {slope("SqrtBackward0", 1e38, 1e-8, 1e-8), "float_overflow"},
       {left_out(slope("SqrtBackward0", 0, 0, 0)), "where_gradient_leak"}},
      {"norm_gradient_at_zero",
       norm_of(0),
       {norm_of(2), "unknown"},
       {slope("SqrtBackward0", 1, 0, 0), "sqrt_gradient_at_zero"}},
      {"pow_domain",
       with_scalar("exponent", "0.5", of("pow", kNan, -1)),
       {exactly(-1e60, with_scalar("exponent", "3", of("pow", -kInf, -1e20))), "float_overflow"},
       {with_scalar("exponent", "-0.5", of("pow", kInf, 0)), "division_by_zero"}},
      {"where_gradient_leak",
       discarded(2.5),
       {discarded(kNan), "sqrt_of_negative"},
       {slope("SqrtBackward0", 1, 0, 0), "sqrt_gradient_at_zero"}},
      {"exp_overflow",
       of("exp", kInf, 120),
       {of("exp", kInf, 12, "float16"), "half_overflow"},
       {of("exp", kNan, kNan), "bad_input_data"}},
      {"float_overflow",
       times(1e30, 1e30),
       {times(kInf, 1), "unknown"},
       {made(kNan, "aten::mul", {with("a", "self", 0), with("b", "other", kInf)}),
        "zero_times_inf"}},
      {"half_overflow",
       of("square", kInf, 300, "float16"),
       {of("square", kInf, 1e30, "float16"), "float_overflow"},
       {over(1, 0, "float16"), "division_by_zero"}},
      {"eight_bit_overflow",
       of("_to_copy", kNan, 300, "float8_e4m3fnuz"),
       {of("_to_copy", kInf, 1e30, "float16"), "half_overflow"},
       {of("_to_copy", kNan, kNan, "float8_e4m3fn"), "bad_input_data"}},
      {"cancellation",
       made_again(Loss::kCancellation, 0.1, of("sqrt", kNan, -1e-7)),
       {made_again(Loss::kNothing, kNan, of("sqrt", kNan, -1e-7)), "sqrt_of_negative"},
       {made_again(Loss::kGuard, -13.8, of("log", -kInf, 0)), "eps_underflow"}},
      {"eps_underflow",
       at("x / (n + 1e-12)", over(1, 0, "float16")),
       {at("x / (n + 1e-12)", over(1, 0)), "division_by_zero"},
       {at("x / n", over(1, 0, "float16")), "division_by_zero"}},
      {"all_masked_softmax",
       made(kNan, "aten::_softmax", {row_of(-kInf)}),
       {made(kNan, "aten::_softmax", {row_of(kInf)}), "inf_minus_inf"},
       {made(kNan, "aten::sub", {with("a", "self", -kInf), with("b", "other", -kInf)}),
        "inf_minus_inf"}},
      {"inf_minus_inf",
       made(kNan, "aten::sub", {with("a", "self", kInf), with("b", "other", kInf)}),
       {made(kNan, "aten::sub", {with("a", "self", kInf), with("b", "other", 1)}), "unknown"},
       {made(kNan, "aten::_softmax", {row_of(-kInf)}), "all_masked_softmax"}},
      {"zero_times_inf",
       made(kNan, "aten::mul", {with("a", "self", 0), with("b", "other", kInf)}),
       {made(kNan, "aten::mul", {with("a", "self", 2), with("b", "other", kInf)}), "unknown"},
       {over(0, 0), "division_by_zero"}},
      {"empty_reduction",
       made(kNan, "aten::mean", {nothing()}),
       {made(kNan, "aten::mean", {blind(with("x", "self", kNan))}), "bad_input_data"},
       {over(0, 0), "division_by_zero"}},
      {"bad_input_data",
       from(OriginKind::kImported, of("mul", kNan, kNan)),
       {from(OriginKind::kUninitialised, of("mul", kNan, kNan)), "uninitialised_memory"},
       {from(OriginKind::kDeclared, of("fill_", kNan, 1)), "nan_constant"}},
      {"learning_rate_divergence",
       step_by_step(&StepRecord::gradient_norm, {1, 4, 16, 64, 256}, times(1e30, 1e30)),
       {step_by_step(&StepRecord::gradient_norm, {1, 1, 1, 1, 256}, times(1e30, 1e30)),
        "float_overflow"},
       {layer_by_layer(false, {1, 30, 900, 27e3, 81e4}, times(1e30, 1e30, 0)),
        "bad_initialisation"}},
      {"bad_initialisation",
       layer_by_layer(false, {1, 30, 900, 27e3, 81e4}, times(1e30, 1e30, 0)),
       {layer_by_layer(false, {1, 30, 900, 27e3, 81e4}, times(1e30, 1e30, 50)), "float_overflow"},
       {zero_weight(false), "division_by_zero"}},
      {"optimizer_division_by_zero",
       fused_adam("0"),
       {fused_adam("1e-08"), "unknown"},
       {over(0, 0), "division_by_zero"}},
      {"uninitialised_memory",
       from(OriginKind::kUninitialised, of("empty", kNan, 1)),
       {from(OriginKind::kImported, of("mul", kNan, kNan)), "bad_input_data"},
       {from(OriginKind::kDeclared, of("full", kNan, 1)), "nan_constant"}},
      {"inverse_trig_domain",
       of("acos", kNan, 1.0000001),
       {of("acos", kNan, 0.5), "unknown"},
       {of("rsqrt", kInf, 0), "division_by_zero"}},
      {"special_function_domain",
       of("erfinv", kInf, 1),
       {of("erfinv", kInf, 0.5), "unknown"},
       {of("atanh", kInf, 1), "inverse_trig_domain"}},
      {"loss_scale_runaway",
       step_by_step(&StepRecord::loss_scale, {4, 2, 1, 0.5}, times(1e30, 1e30)),
       {step_by_step(&StepRecord::loss_scale, {65536, 32768, 16384}, times(1e30, 1e30)),
        "float_overflow"},
       {step_by_step(&StepRecord::loss, {4, 2, 1, 0.5}, times(1e30, 1e30)), "float_overflow"}},
      {"degenerate_decomposition",
       svd("LinalgSvdBackward0", 1, 1),
       {svd("MulBackward0", 1, 1), "unknown"},
       {made(kInf, "aten::linalg_inv_ex", {blind(with("A", "A", 1))}), "singular_matrix"}},
      {"exploding_gradients",
       layer_by_layer(true, {1e12, 1e9, 1e6, 1e3, 1},
                      in_backward("MulBackward0", times(1e30, 1e30))),
       {layer_by_layer(true, {1, 1e3, 1e6, 1e9}, in_backward("MulBackward0", times(1e30, 1e30))),
        "float_overflow"},
       {step_by_step(&StepRecord::gradient_norm, {1, 4, 16, 64, 256},
                     in_backward("MulBackward0", times(1e30, 1e30))),
        "learning_rate_divergence"}},
      {"nan_constant",
       from(OriginKind::kDeclared, of("full", kNan, 1)),
       {written("    data[3, 2] = float('nan')", from(OriginKind::kDeclared, of("fill_", kNan, 1))),
        "bad_input_data"},
       {from(OriginKind::kImported, of("mul", kNan, kNan)), "bad_input_data"}},
      {"singular_matrix",
       made(kInf, "aten::linalg_inv_ex", {blind(with("A", "A", 1))}),
       {made(kNan, "aten::linalg_inv_ex", {blind(with("A", "A", kNan))}), "bad_input_data"},
       {made(kInf, "aten::mm", {blind(with("A", "self", 1e30))}), "float_overflow"}},
      {"unwatched_kernel",
       computed_unseen(),
       {from(OriginKind::kImported, of("mul", kNan, kNan)), "bad_input_data"},
       {made(kNan, "mylib::fancy", {with("x", "", 1)}), "foreign_operator"}},
      {"foreign_operator",
       made(kNan, "mylib::fancy", {with("x", "", 1)}),
       {made(kNan, "mylib::fancy", {with("x", "self", kNan)}), "bad_input_data"},
       {computed_unseen(), "unwatched_kernel"}},
      {"compiled_only",
       only_compiled("emulate_precision_casts"),
       {made(kNan, "aten::sqrt", {with("d", "self", -1e-6)}), "sqrt_of_negative"},
       {computed_unseen(), "unwatched_kernel"}},
      {"received_from_rank",
       received({{1, 4, 0, 0}}),
       {from(OriginKind::kImported, of("mul", kNan, kNan)), "bad_input_data"},
       {received({}), "overflow_in_reduction"}},
      {"overflow_in_reduction",
       received({}),
       {of("add", kInf, 6e4, "float16"), "half_overflow"},
       {received({{0, 0, 1, 0}, {3, 0, 2, 0}}), "received_from_rank"}},
      {"unknown",
       made(kNan, "aten::fancy", {with("x", "", 1)}),
       {made(kNan, "aten::fancy", {with("x", "self", kNan)}), "bad_input_data"},
       {computed_unseen(), "unwatched_kernel"}},
      {"extreme_weights",
       warned("extreme_weights", 300, 100),
       {layer_by_layer(false, {1, 30, 900, 27e3, 81e4}, times(1e30, 1e30, 0)),
        "bad_initialisation"},
       {warned("untrained_weights"), "untrained_weights"}},
      {"untrained_weights",
       warned("untrained_weights"),
       {warned("extreme_weights", 1e-9, 1e-6), "extreme_weights"},
       {zero_weight(true), "bad_initialisation"}},
      {"little_headroom",
       warned("little_headroom", 3e4, 65504),
       {of("square", kInf, 300, "float16"), "half_overflow"},
       {warned("eps_underflow", 1e-12, 3e-8), "eps_underflow"}},
      {"growing_gradients",
       warned("growing_gradients", 1e6, 1),
       {step_by_step(&StepRecord::gradient_norm, {1, 4, 16, 64, 256}, times(1e30, 1e30)),
        "learning_rate_divergence"},
       {warned("little_headroom", 3e4, 65504), "little_headroom"}},
  };
}

TEST(EveryCause, HasAPlainCaseAnInnocentOneAndALookAlike) {
  const std::vector<Trial> all = trials();
  for (const CauseInfo& cause : all_causes()) {
    const auto named = [&](const Trial& trial) { return trial.id == cause.id; };
    EXPECT_EQ(std::count_if(all.begin(), all.end(), named), 1) << cause.id;
  }
  EXPECT_EQ(all.size(), all_causes().size());
  for (const Trial& trial : all) {
    EXPECT_EQ(diagnose(trial.plain).id, trial.id);
    EXPECT_EQ(diagnose(trial.innocent.finding).id, trial.innocent.cause) << trial.id;
    EXPECT_EQ(diagnose(trial.look_alike.finding).id, trial.look_alike.cause) << trial.id;
    EXPECT_NE(trial.innocent.cause, trial.id);
    EXPECT_NE(trial.look_alike.cause, trial.id);
  }
}

// Compiled again with a setting it is finite: that is the experiment. Where none was found, or
// where the op is not known, what is said of the operands proves nothing.
TEST(EveryCause, CompiledOnlyIsCertainByASettingAlone) {
  EXPECT_EQ(verdict(only_compiled("emulate_precision_casts")), "compiled_only certain");
  EXPECT_EQ(verdict(only_compiled("")), "compiled_only likely");
  EXPECT_EQ(verdict(only_compiled("", OriginKind::kUnwatched)), "compiled_only likely");
}

// Where it was a suspect, it is said why it is not the cause.
TEST(EveryCause, AnInnocentSuspectIsToldWhyNot) {
  for (const char* id : {"division_by_zero", "log_of_zero", "log_of_negative", "sqrt_of_negative",
                         "norm_gradient_at_zero", "pow_domain", "where_gradient_leak",
                         "exp_overflow", "all_masked_softmax", "inf_minus_inf", "zero_times_inf",
                         "empty_reduction", "optimizer_division_by_zero", "inverse_trig_domain"}) {
    for (const Trial& trial : trials())
      if (trial.id == id) {
        EXPECT_NE(why_not(trial.innocent.finding, id), "(not among the others)") << id;
      }
  }
}

}  // namespace
}  // namespace nanscope
