// Arrays of anyone, where they lie: the scan for Python.
//
// An array comes as an address with its type and strides, which Python reads from torch and NumPy
// for less than a DLPack capsule costs, or as an object with __dlpack__. Only memory of the host
// is ever looked at: the device is asked for before an address is believed.

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "adapters/python/module.h"
#include "diagnose/phrase.h"
#include "scan/finite.h"
#include "scan/magnitude.h"
#include "scan/row_sums.h"
#include "scan/statistics.h"

namespace nb = nanobind;

namespace nanscope::python {
namespace {

// Below this, releasing the GIL costs more than the scan.
constexpr std::int64_t kWorthReleasing = 1 << 16;

struct ElementType {
  DType dtype = DType::kInteger;
  std::uint8_t int_width = 0;
  bool int_signed = true;
};

struct Named {
  std::string_view name;
  ElementType type;
};

// As torch and NumPy call them.
constexpr Named kTypes[] = {{"float32", {DType::kFloat32}},
                            {"float64", {DType::kFloat64}},
                            {"float16", {DType::kFloat16}},
                            {"bfloat16", {DType::kBFloat16}},
                            {"complex64", {DType::kComplex64}},
                            {"complex128", {DType::kComplex128}},
                            {"complex32", {DType::kComplex32}},
                            {"float8_e5m2", {DType::kFloat8E5M2}},
                            {"float8_e4m3fn", {DType::kFloat8E4M3FN}},
                            {"float8_e4m3fnuz", {DType::kFloat8E4M3FNUZ}},
                            {"float8_e5m2fnuz", {DType::kFloat8E5M2FNUZ}},
                            {"float8_e8m0fnu", {DType::kFloat8E8M0FNU}},
                            {"bool", {DType::kInteger, 1, false}},
                            {"int8", {DType::kInteger, 1, true}},
                            {"uint8", {DType::kInteger, 1, false}},
                            {"int16", {DType::kInteger, 2}},
                            {"uint16", {DType::kInteger, 2, false}},
                            {"int32", {DType::kInteger, 4}},
                            {"uint32", {DType::kInteger, 4, false}},
                            {"int64", {DType::kInteger, 8}},
                            {"uint64", {DType::kInteger, 8, false}}};

const Named* find_type(std::string_view name) {
  for (const Named& known : kTypes)
    if (known.name == name) return &known;
  return nullptr;
}

const Named& type_named(std::string_view name) {
  const Named* found = find_type(name);
  if (found == nullptr)
    throw nb::type_error(("cannot look into elements of type " + std::string(name)).c_str());
  return *found;
}

std::string name_of(nb::dlpack::dtype type) {
  const std::string bits = std::to_string(static_cast<int>(type.bits));
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return "int" + bits;
    case nb::dlpack::dtype_code::UInt:
      return "uint" + bits;
    case nb::dlpack::dtype_code::Float:
      return "float" + bits;
    case nb::dlpack::dtype_code::Bfloat:
      return "bfloat" + bits;
    case nb::dlpack::dtype_code::Complex:
      return "complex" + bits;
    case nb::dlpack::dtype_code::Bool:
      return "bool";
    default:
      return "DLPack code " + std::to_string(static_cast<int>(type.code)) + " of " + bits + " bits";
  }
}

// A tensor that only stands for others (traced, batched, all zero) has elements but no memory.
void require_memory(const TensorView& view) {
  if (view.data == nullptr && view.numel() != 0)
    throw nb::type_error("the array has elements but no memory of its own");
}

class Array {
 public:
  Array(std::uintptr_t address, const std::string& dtype, Index shape, Index strides,
        nb::object owner)
      : type_(type_named(dtype)),
        shape_(std::move(shape)),
        strides_(std::move(strides)),
        data_(reinterpret_cast<const void*>(address)),
        owner_(std::move(owner)) {
    if (shape_.size() != strides_.size())
      throw nb::value_error("an array needs as many strides as sizes");
    require_memory(view());
  }

  // A device array is refused, whatever its __dlpack_device__ said.
  static Array of_dlpack(const nb::ndarray<nb::ro>& given) {
    if (given.device_type() != nb::device::cpu::value)
      throw nb::type_error("the array is in a device's memory, not the host's");
    Index shape, strides;
    for (std::size_t dim = 0; dim < given.ndim(); ++dim) {
      shape.push_back(static_cast<std::int64_t>(given.shape(dim)));
      strides.push_back(given.stride(dim));
    }
    Array array(reinterpret_cast<std::uintptr_t>(given.data()), python::name_of(given.dtype()),
                std::move(shape), std::move(strides), nb::none());
    array.exported_ = given;
    return array;
  }

  [[nodiscard]] TensorView view() const {
    return {data_, type_.type.dtype, shape_, strides_, type_.type.int_width, type_.type.int_signed};
  }
  [[nodiscard]] std::string dtype() const { return std::string(type_.name); }
  [[nodiscard]] const Index& shape() const { return shape_; }

 private:
  const Named& type_;
  Index shape_;
  Index strides_;
  const void* data_;
  nb::object owner_;  // these two keep the memory
  nb::ndarray<nb::ro> exported_;
};

template <class Fn>
auto unlocked(const TensorView& view, Fn&& fn) {
  if (view.numel() < kWorthReleasing) return fn();
  const nb::gil_scoped_release release;
  return fn();
}

// The hot question of `check`: no object is made for it.
bool all_finite_at(std::uintptr_t address, std::string_view dtype, const Index& shape,
                   const Index& strides) {
  const TensorView view{reinterpret_cast<const void*>(address), type_named(dtype).type.dtype, shape,
                        strides};
  if (shape.size() != strides.size()) throw nb::value_error("as many strides as sizes");
  require_memory(view);
  return unlocked(view, [&] { return all_finite(view); });
}

nb::object plain(const Value& value) {
  if (!value.is_complex) return nb::float_(value.real);
  return nb::steal(PyComplex_FromDoubles(value.real, value.imag));
}

void check_index(const Array& array, const Index& index) {
  bool inside = index.size() == array.shape().size();
  for (std::size_t dim = 0; inside && dim < index.size(); ++dim)
    inside = index[dim] >= 0 && index[dim] < array.shape()[dim];
  if (!inside) throw nb::index_error("no such element");
}

void add_numbers(nb::module_& module) {
  nb::class_<Statistics>(module, "Statistics", "What an array holds; counts are of elements.")
      .def_ro("numel", &Statistics::numel)
      .def_ro("nan", &Statistics::nan)
      .def_ro("pos_inf", &Statistics::pos_inf)
      .def_ro("neg_inf", &Statistics::neg_inf)
      .def_ro("zeros", &Statistics::zeros)
      .def_ro("negatives", &Statistics::negatives)
      .def_ro("subnormals", &Statistics::subnormals)
      .def_ro("min", &Statistics::min)
      .def_ro("max", &Statistics::max)
      .def_ro("mean", &Statistics::mean);

  nb::class_<Magnitudes>(module, "Magnitudes", "How large the finite numbers of an array are.")
      .def_ro("norm", &Magnitudes::norm)
      .def_ro("largest", &Magnitudes::largest)
      .def_ro("smallest", &Magnitudes::smallest)
      .def_ro("extreme", &Magnitudes::extreme)
      .def_ro("near_zero", &Magnitudes::near_zero);

  nb::class_<RowSums>(module, "RowSums", "Rows of probabilities that do not sum to one.")
      .def_ro("rows", &RowSums::rows)
      .def_ro("off", &RowSums::off)
      .def_ro("first", &RowSums::first)
      .def_ro("sum", &RowSums::sum);
}

void add_array(nb::module_& module) {
  nb::class_<Array>(module, "Array", "An array of the host's memory, looked at where it lies.")
      .def(nb::init<std::uintptr_t, const std::string&, Index, Index, nb::object>(),
           nb::arg("address"), nb::arg("dtype"), nb::arg("shape"), nb::arg("strides"),
           nb::arg("owner"), "Strides count elements.")
      .def_static("of_dlpack", &Array::of_dlpack, nb::arg("exporter").noconvert(),
                  nb::sig("def of_dlpack(exporter: object) -> Array"))
      .def_prop_ro("dtype", &Array::dtype)
      .def_prop_ro("shape", &Array::shape)
      .def("all_finite",
           [](const Array& self) {
             const TensorView view = self.view();
             return unlocked(view, [&] { return all_finite(view); });
           })
      .def(
          "kinds",
          [](const Array& self) {
            const TensorView view = self.view();
            const Kinds kinds = unlocked(view, [&] { return kinds_of(view); });
            return nb::make_tuple(kinds.nan, kinds.inf);
          },
          "Whether it holds NaN, and whether Inf.")
      .def("statistics",
           [](const Array& self) {
             const TensorView view = self.view();
             return unlocked(view, [&] { return statistics_of(view); });
           })
      .def(
          "magnitudes",
          [](const Array& self, double extreme, double near_zero) {
            const TensorView view = self.view();
            return unlocked(view, [&] { return magnitudes_of(view, {extreme, near_zero}); });
          },
          nb::arg("extreme"), nb::arg("near_zero"))
      .def("row_sums",
           [](const Array& self) {
             const TensorView view = self.view();
             return unlocked(view, [&] { return row_sums_of(view); });
           })
      .def(
          "first_bad",
          [](const Array& self, std::size_t limit) { return first_bad(self.view(), limit); },
          nb::arg("limit"), "The first elements that are not finite, in row-major order.")
      .def(
          "value_at",
          [](const Array& self, const Index& index) {
            check_index(self, index);
            return plain(value_at(self.view(), index));
          },
          nb::arg("index"), nb::sig("def value_at(self, index: Sequence[int]) -> float | complex"));
}

}  // namespace

void add_arrays(nb::module_& module) {
  add_numbers(module);
  add_array(module);
  module.def("all_finite_at", &all_finite_at, nb::arg("address"), nb::arg("dtype"),
             nb::arg("shape"), nb::arg("strides"));
  module.def(
      "is_readable_type", [](std::string_view name) { return find_type(name) != nullptr; },
      nb::arg("dtype"));
  module.def(
      "is_floating_type",
      [](std::string_view name) {
        const Named* found = find_type(name);
        return found == nullptr || is_scannable(found->type.dtype);
      },
      nb::arg("dtype"), "Could an element of this type be NaN or Inf?");
  module.def(
      "number", [](double value) { return nanscope::number(value); }, nb::arg("value"),
      "As the reports write it.");
  module.def("grouped", &nanscope::grouped, nb::arg("count"), "12,345");
}

}  // namespace nanscope::python
