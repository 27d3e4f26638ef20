#include "adapters/torch/binding/python_compiled.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <span>
#include <utility>

#include "adapters/torch/binding/adapter.h"
#include "adapters/torch/binding/python_objects.h"
#include "adapters/torch/compiled/kept_inputs.h"
#include "adapters/torch/compiled/random_bits.h"
#include "adapters/torch/compiled/regions.h"
#include "adapters/torch/interpose/trampoline.h"
#include "adapters/torch/watch/threads.h"
#include "adapters/torch/watch/watcher.h"

namespace nanscope::torch_adapter {
namespace {

// In their order; undefined where there is none.
std::vector<at::Tensor> tensors_or_none(nb::handle sequence) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(nb::len_hint(sequence));
  for (nb::handle item : sequence) tensors.push_back(is_tensor(item) ? unwrap(item) : at::Tensor());
  return tensors;
}

at::Tensor tensor_or_none(nb::handle object) {
  return is_tensor(object) ? unwrap(object) : at::Tensor();
}

// A subclass, which may be a tracer's: nothing is computed then.
bool is_subclass(nb::handle object) {
  return is_tensor(object) &&
         unwrap(object).unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::Python);
}

// One for each region.
struct RegionMemory {
  std::shared_ptr<SpareBytes> spare = std::make_shared<SpareBytes>(Adapter::get().spare_memory());
};

void add_kept_inputs(nb::module_& module) {
  nb::class_<RegionMemory>(module, "RegionMemory").def(nb::init<>());
  nb::class_<KeptInputs>(module, "KeptInputs")
      .def_prop_ro("numbers", &KeptInputs::numbers)
      .def_prop_ro("others", &KeptInputs::others)
      .def("copy",
           [](const KeptInputs& kept, std::size_t number) {
             return nb::steal(THPVariable_Wrap(kept.copy_of(number)));
           })
      .def("unforeseen", [](const KeptInputs& kept, nb::handle inputs) {
        return kept.unforeseen(tensors_or_none(inputs));
      });
  module.def("keep_inputs", [](nb::handle inputs, const std::vector<std::size_t>& written,
                               const RegionMemory& memory) {
    return KeptInputs(tensors_or_none(inputs), written, memory.spare);
  });
}

// Calls it; the ops inside are not the program's.
nb::object quietly(nb::handle function, const nb::args& args, const nb::kwargs& kwargs) {
  const Busy busy;
  return call(function, args, kwargs);
}

// (kernel, [(file, line)], rounded_to, setting, its value), as OnlyCompiled has them; or None.
std::optional<OnlyCompiled> only_compiled_in(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  OnlyCompiled known;
  known.kernel = nb::cast<std::string>(object[0]);
  for (nb::handle line : nb::cast<nb::list>(object[1])) {
    Site site;
    site.file = nb::cast<std::string>(line[0]);
    site.line = site.end_line = nb::cast<int>(line[1]);
    known.lines.push_back(std::move(site));
  }
  known.rounded_to = nb::cast<std::string>(object[2]);
  known.setting = nb::cast<std::string>(object[3]);
  known.setting_value = nb::cast<std::string>(object[4]);
  return known;
}

// Calls it; the ops inside show how only the compiled form comes to a value.
nb::object as_compiled(nb::handle known, nb::handle function, const nb::args& args) {
  const std::optional<OnlyCompiled> only = only_compiled_in(known);
  struct Context {
    const OnlyCompiled* before;
    ~Context() { this_thread().be_only_compiled(before); }
  };
  const Context context{this_thread().be_only_compiled(only ? &*only : nullptr)};
  return call(function, args, nb::dict());
}

// Calls it: what a region has computed without raising is computed again.
nb::object repeat_region(nb::handle function, const nb::args& args) {
  struct Context {
    bool before = this_thread().repeat_region(true);
    ~Context() { this_thread().repeat_region(before); }
  };
  const Context context;
  return call(function, args, nb::dict());
}

// Into a dense tensor: float32, or int64 for integers.
template <class Number>
std::span<Number> numbers_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<Number>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

void add_compiled(nb::module_& module) {
  add_kept_inputs(module);
  module.def("quietly", &quietly);
  module.def("any_subclass", [](nb::handle values) {
    for (nb::handle value : values) {
      if (is_subclass(value)) return true;
    }
    return false;
  });
  module.def("region_is_watched", [] { return watching != 0 && !this_thread().is_busy(); });
  module.def("look_at_region", [](nb::handle results) {
    RegionLook look = guarded([&] { return look_at_region(tensors_or_none(results)); });
    return std::pair(std::move(look.bad), std::move(look.zero));
  });
  module.def("is_any_known_bad", [](nb::handle tensors) {
    return !Watcher::get().ledger().empty() && is_any_known_bad(tensors_or_none(tensors));
  });
  module.def("carry_over", [](nb::handle from, nb::handle to) {
    guarded([&] { carry_over(tensor_or_none(from), tensor_or_none(to)); });
  });
  module.def(
      "tell_region",
      [](nb::handle result, nb::handle replayed, bool inf_was_nan, nb::handle before,
         const std::string& why, nb::handle only) {
        guarded([&] {
          tell_region({tensor_or_none(result), tensor_or_none(replayed), inf_was_nan,
                       tensor_or_none(before), why, only_compiled_in(only)});
        });
      },
      nb::kw_only(), nb::arg("result"), nb::arg("replayed").none(), nb::arg("inf_was_nan"),
      nb::arg("before").none(), nb::arg("why"), nb::arg("only").none());
  module.def("carry_losses", [](nb::handle replayed, nb::handle result) {
    guarded([&] { carry_losses(tensor_or_none(replayed), tensor_or_none(result)); });
  });
  module.def("tell_only_eager", [](nb::handle replayed) {
    guarded([&] { tell_only_eager(tensor_or_none(replayed)); });
  });
  module.def("as_compiled", &as_compiled);
  module.def("repeat_region", &repeat_region);
  module.def("fill_uniform", [](nb::handle tensor, std::int64_t seed) {
    fill_uniform(numbers_of<float>(unwrap(tensor)), seed);
  });
  module.def("fill_normal", [](nb::handle tensor, std::int64_t seed) {
    fill_normal(numbers_of<float>(unwrap(tensor)), seed);
  });
  module.def("fill_integers",
             [](nb::handle tensor, std::int64_t seed, std::int64_t low, std::int64_t high) {
               fill_integers(numbers_of<std::int64_t>(unwrap(tensor)), seed, low, high);
             });
  // Where the program may be stopped for what was told.
  module.def("stop_for_region",
             [] { guarded([] { Watcher::get().stopping().stop_if_wanted(); }); });
}

}  // namespace nanscope::torch_adapter
