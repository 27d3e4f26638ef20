#include "adapters/torch/hit/mended.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "adapters/torch/hit/again.h"
#include "adapters/torch/hit/tensor_facts.h"
#include "origin/op_families.h"
#include "scan/statistics.h"

namespace nanscope::torch_adapter {
namespace {

constexpr std::size_t kMostExperiments = 4;
constexpr std::int64_t kMostLookedAt = 4096;  // elements, for one whose result is finite
constexpr std::size_t kEveryOperand = std::numeric_limits<std::size_t>::max();

bool is_finite(const Value& value) {
  return std::isfinite(value.real) && std::isfinite(value.imag);
}

bool same(const Value& a, const Value& b) { return a.real == b.real && a.imag == b.imag; }

c10::Scalar scalar_of(const Value& value) {
  if (value.is_complex) return c10::complex<double>(value.real, value.imag);
  return value.real;
}

// The failing elements of one operand (or of all that are not finite) get this value.
class Replace final : public Change {
 public:
  Replace(std::size_t argument, const Value& value) : argument_(argument), value_(value) {}

  std::optional<at::Tensor> changed(std::size_t argument, at::Tensor copy) const override {
    if (argument == argument_) return copy.fill_(scalar_of(value_));
    if (argument_ == kEveryOperand && at::isFloatingType(copy.scalar_type()))
      return at::where(at::isfinite(copy), copy, at::ones_like(copy));
    return copy;
  }

 private:
  std::size_t argument_;
  Value value_;
};

// How an operand of an op that works on rows or on the whole is mended.
enum class Whole { kUnmask, kFinite, kOnes, kOneElement, kOneMore, kFirstClass, kIdentity };

class ReplaceWhole final : public Change {
 public:
  ReplaceWhole(std::size_t argument, Whole how, const Index& at, std::int64_t dim)
      : argument_(argument), how_(how), at_(at), dim_(dim) {}

  std::optional<at::Tensor> changed(std::size_t argument, at::Tensor copy) const override {
    if (argument != argument_) return copy;
    switch (how_) {
      case Whole::kUnmask:
        return unmasked(std::move(copy));
      case Whole::kFinite:
        return at::where(at::isfinite(copy), copy, at::ones_like(copy));
      case Whole::kOnes:
        return at::ones_like(copy);
      case Whole::kFirstClass:
        return at::zeros_like(copy);
      case Whole::kIdentity:
        return at::eye(copy.size(-2), copy.size(-1), copy.options()).expand_as(copy).contiguous();
      case Whole::kOneElement: {
        std::vector<std::int64_t> sizes = copy.sizes().vec();
        std::replace(sizes.begin(), sizes.end(), std::int64_t{0}, std::int64_t{1});
        return at::ones(sizes, copy.options());
      }
      case Whole::kOneMore:
        return copy.dim() == 0 ? at::stack({copy, copy}) : at::cat({copy, copy}, dim_);
    }
    return std::nullopt;
  }

 private:
  std::optional<at::Tensor> unmasked(at::Tensor copy) const {
    if (at_.size() != static_cast<std::size_t>(copy.dim())) return std::nullopt;
    at::Tensor place = copy;
    for (const std::int64_t i : at_) place = place.select(0, i);
    place.zero_();
    return copy;
  }

  std::size_t argument_;
  Whole how_;
  const Index& at_;
  std::int64_t dim_;
};

class Mending {
 public:
  Mending(const Wrapper& wrapper, const Call& call, const Before* before, Finding& finding)
      : wrapper_(wrapper),
        call_(call),
        finding_(finding),
        again_(wrapper, call, before, finding),
        op_(bare_name(wrapper.info.name)) {}

  void run() {
    if (!again_.may_run()) return;
    std::size_t not_finite = 0;
    each_tensor(wrapper_, call_, [&](const at::Tensor& operand, std::size_t argument, int item) {
      if (item >= 0 || !wrapper_.arguments[argument].read) return;
      if (wrapper_.pointwise) {
        not_finite += mend_element(operand, argument) ? 0 : 1;
      } else {
        mend_whole(operand, argument);
      }
    });
    if (wrapper_.pointwise && not_finite > 1)
      attempt("", Value{1, 0, false}, Replace(kEveryOperand, {}));
  }

 private:
  // Whether what it holds at the failing element is finite.
  bool mend_element(const at::Tensor& operand, std::size_t argument) {
    const std::string& name = wrapper_.argument_names[argument];
    const std::optional<Value> now = value_now(operand, name);
    if (!now) return true;
    const Value given = healthy_value(operand, name, *now);
    if (!same(given, *now)) attempt(name, given, Replace(argument, given));
    return is_finite(*now);
  }

  // As the finding shows it: before the op overwrote it.
  std::optional<Value> value_now(const at::Tensor& operand, const std::string& name) const {
    if (is_number(operand)) return Value{number_in(operand), 0, false};
    for (const TensorFacts& input : finding_.inputs)
      if (!input.saved && input.argument == name && !input.at_index.empty())
        return input.at_index[0];
    return std::nullopt;
  }

  // Another value of the same operand; else 1.
  Value healthy_value(const at::Tensor& operand, const std::string& name, const Value& now) const {
    const Value one{1, 0, now.is_complex};
    if (is_number(operand) || is_overwritten(name)) return one;
    const OwnedView view(operand);
    const std::vector<std::int64_t>& sizes = view.sizes;
    if (view.data == nullptr || !has_values(view.view()) || operand.numel() == 0) return one;
    // One that is in the domain of everything, and not larger than the bad one.
    Index at(sizes.size(), 0);
    for (std::int64_t seen = 0; seen < kMostLookedAt; ++seen) {
      const Value value = value_at(view.view(), at);
      const double most = now.real == 0 ? HUGE_VAL : std::fabs(now.real);
      if (is_finite(value) && value.real > 0 && value.real <= most && !same(value, now))
        return value;
      if (!advance(at, sizes)) break;
    }
    return one;
  }

  static bool advance(Index& at, const std::vector<std::int64_t>& sizes) {
    for (std::size_t i = sizes.size(); i-- > 0;) {
      if (++at[i] < sizes[i]) return true;
      at[i] = 0;
    }
    return false;
  }

  bool is_overwritten(const std::string& name) const {
    for (const TensorFacts& input : finding_.inputs)
      if (!input.saved && input.argument == name) return !input.remark.empty();
    return false;
  }

  void mend_whole(const at::Tensor& operand, std::size_t argument) {
    const std::string& name = wrapper_.argument_names[argument];
    const std::optional<Whole> how = way_to_mend(operand, name);
    if (!how) return;
    const auto dims = dims_of(wrapper_, call_);
    const std::int64_t dim = dims && !dims->empty() ? dims->front() : 0;
    const bool unmasks = *how == Whole::kUnmask || *how == Whole::kFirstClass;
    attempt(name, Value{unmasks ? 0.0 : 1.0, 0, false},
            ReplaceWhole(argument, *how, finding_.origin.indices[0], dim));
  }

  std::optional<Whole> way_to_mend(const at::Tensor& operand, const std::string& name) const {
    if (name == "target" && is_in(OpFamily::kNllLoss, op_))
      return operand.numel() > 0 ? std::optional(Whole::kFirstClass) : std::nullopt;
    if (!at::isFloatingType(operand.scalar_type())) return std::nullopt;
    if (name == "weight" && is_in(OpFamily::kNllLoss, op_)) return Whole::kOnes;
    if (is_in(OpFamily::kSoftmax, op_)) return Whole::kUnmask;
    if (operand.numel() == 0) return Whole::kOneElement;
    if (is_in(OpFamily::kSpread, op_)) return Whole::kOneMore;
    const Statistics seen = statistics_of(OwnedView(operand).view());
    if (seen.nan + seen.pos_inf + seen.neg_inf > 0) return Whole::kFinite;
    if (is_in(OpFamily::kInverts, op_) && operand.dim() >= 2) return Whole::kIdentity;
    if (seen.zeros == seen.numel) return Whole::kOnes;
    return std::nullopt;
  }

  void attempt(const std::string& argument, const Value& given, const Change& change) {
    if (finding_.experiments.size() >= kMostExperiments) return;
    std::string remark;
    try {
      const KernelsOnly kernels_only;
      const std::vector<Value> values = again_.compute(Width::kAsItIs, &change, remark);
      if (values.empty()) return;
      Experiment experiment;
      experiment.argument = argument;
      experiment.given = given;
      experiment.result = values[0];
      finding_.experiments.push_back(std::move(experiment));
    } catch (const std::exception&) {
      // The op refuses these operands: then nothing is claimed.
    }
  }

  const Wrapper& wrapper_;
  const Call& call_;
  Finding& finding_;
  Again again_;
  std::string op_;
};

}  // namespace

void mend_operands(const Wrapper& wrapper, const Call& call, const Before* before,
                   Finding& finding) {
  if (finding.origin.indices.empty() || finding.outputs.empty() || wrapper.random) return;
  Mending(wrapper, call, before, finding).run();
}

}  // namespace nanscope::torch_adapter
