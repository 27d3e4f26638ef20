#include "adapters/torch/hit/remade.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "adapters/torch/hit/again.h"
#include "adapters/torch/hit/tensor_facts.h"
#include "adapters/torch/ops/domains.h"
#include "adapters/torch/watch/stopping.h"
#include "adapters/torch/watch/then.h"
#include "adapters/torch/watch/watcher.h"
#include "origin/op_families.h"
#include "records/words.h"
#include "scan/statistics.h"

namespace nb = nanobind;

namespace nanscope::torch_adapter {
namespace {

// Reads the operand that decides, at the element of the result.
std::optional<double> deciding_value(const Wrapper& wrapper, const Call& call, const Before* before,
                                     const std::string& op, const Index& at) {
  const std::string wanted = op == "addcdiv"                        ? "tensor2"
                             : is_in(OpFamily::kDecidedByOther, op) ? "other"
                                                                    : "self";
  std::optional<double> found;
  each_tensor(wrapper, call, [&](const at::Tensor& operand, std::size_t argument, int item) {
    if (item >= 0 || wrapper.argument_names[argument] != wanted) return;
    if (is_number(operand)) {
      found = number_in(operand);
      return;
    }
    const Before::Kept* kept = before == nullptr ? nullptr : before->kept_of(argument, item);
    if (kept == nullptr && wrapper.arguments[argument].written) return;
    const OwnedView view = kept != nullptr ? kept->view : OwnedView(operand);
    const auto mine = feeding(at, view.sizes);
    if (!mine || view.data == nullptr || !has_values(view.view())) return;
    const Value value = value_at(view.view(), *mine);
    if (!value.is_complex) found = value.real;
  });
  return found;
}

std::optional<Experiment> read(const nb::object& answer) {
  if (answer.is_none()) return std::nullopt;
  const nb::dict fields = nb::cast<nb::dict>(answer);
  const auto text = [&](const char* key) {
    return fields.contains(key) ? nb::cast<std::string>(fields[key]) : std::string();
  };
  Experiment experiment;
  experiment.kind = ExperimentKind::kMadeAgain;
  experiment.code = text("code");
  experiment.result = Value{nb::cast<double>(fields["result"]), 0, false};
  experiment.lost_at = text("lost_at");
  experiment.guard = text("guard");
  experiment.loss = from_word<Loss>(text("loss")).value_or(Loss::kNothing);
  if (fields.contains("lost_line"))
    experiment.lost_line = nb::cast<std::int64_t>(fields["lost_line"]);
  if (fields.contains("exactly") && !nb::object(fields["exactly"]).is_none())
    experiment.exactly = Value{nb::cast<double>(fields["exactly"]), 0, false};
  // What was computed elsewhere may have lost its digits there.
  const bool complete = nb::cast<bool>(fields["complete"]);
  if (experiment.loss == Loss::kNothing && !complete) return std::nullopt;
  return experiment;
}

}  // namespace

void configure_remaking(_object* make_again) { Watcher::get().make_again_by(make_again); }

std::optional<Experiment> make_operand_again(const Wrapper& wrapper, const Call& call,
                                             const Before* before, const at::Tensor& output) {
  const std::string op = bare_name(wrapper.info.name);
  if (!wrapper.pointwise || wrapper.random || !has_a_domain(op)) return std::nullopt;
  const Then* const then = this_thread().then();
  if (then != nullptr && !then->is_now) return std::nullopt;  // its frame has gone on
  const std::vector<Index> failing = first_bad(OwnedView(output).view(), 1);
  if (failing.empty()) return std::nullopt;
  const auto value = deciding_value(wrapper, call, before, op, failing[0]);
  if (!value) return std::nullopt;
  const nb::gil_scoped_acquire gil;
  PyObject* const function = Watcher::get().make_again();
  if (function == nullptr) return std::nullopt;
  try {
    const KernelsOnly kernels_only;
    return read(nb::borrow(function)(op, failing[0], *value));
  } catch (nb::python_error& error) {
    // The program's own: Ctrl-C, or what a signal handler of it raised just now.
    Stopping::keep_interrupt(error.value().inc_ref().ptr());
  } catch (const std::exception&) {
    // An answer that cannot be read says nothing.
  }
  return std::nullopt;
}

}  // namespace nanscope::torch_adapter
