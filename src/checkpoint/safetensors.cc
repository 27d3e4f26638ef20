// .safetensors: the length of a JSON header, the header, the elements.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "checkpoint/json_events.h"
#include "checkpoint/little_endian.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

struct SafeName {
  std::string_view safetensors;
  std::string_view torch;
};

constexpr SafeName kSafeNames[] = {{"F64", "float64"},
                                   {"F32", "float32"},
                                   {"F16", "float16"},
                                   {"BF16", "bfloat16"},
                                   {"F8_E5M2", "float8_e5m2"},
                                   {"F8_E4M3", "float8_e4m3fn"},
                                   {"F8_E5M2FNUZ", "float8_e5m2fnuz"},
                                   {"F8_E4M3FNUZ", "float8_e4m3fnuz"},
                                   {"F8_E8M0", "float8_e8m0fnu"},
                                   {"F4", "float4_e2m1fn_x2"},
                                   {"C64", "complex64"},
                                   {"I64", "int64"},
                                   {"U64", "uint64"},
                                   {"I32", "int32"},
                                   {"U32", "uint32"},
                                   {"I16", "int16"},
                                   {"U16", "uint16"},
                                   {"I8", "int8"},
                                   {"U8", "uint8"},
                                   {"BOOL", "bool"}};

std::optional<ElementType> type_of_safetensors(std::string_view name) {
  for (const SafeName& each : kSafeNames)
    if (each.safetensors == name) return type_named(each.torch);
  return std::nullopt;
}

// {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}
class SafetensorsHeader : public JsonEvents {
 public:
  SafetensorsHeader(BytesPtr data, Contents& contents)
      : data_(std::move(data)), contents_(contents) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool start_object(std::size_t) override {
    if (++depth_ > 2) return fail("its header makes no sense.");
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !in_metadata_) return finish();
    return true;
  }
  bool key(string_t& key) override {
    if (depth_ == 1) {
      in_metadata_ = key == "__metadata__";
      tensor_ = {};
      type_name_.clear();
      offsets_.clear();
      tensor_.name = std::move(key);
    } else {
      field_ = std::move(key);
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && !in_metadata_ && field_ == "dtype") type_name_ = text;
    return depth_ > 0 || fail("its header makes no sense.");
  }
  bool start_array(std::size_t) override {
    in_array_ = true;
    return (depth_ == 2 && !in_metadata_) || fail("its header makes no sense.");
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (!in_array_ || number > INT64_MAX) return fail("its header makes no sense.");
    std::vector<std::int64_t>& into = field_ == "shape" ? tensor_.sizes : offsets_;
    if (into.size() >= 64) return fail("its header makes no sense.");
    into.push_back(static_cast<std::int64_t>(number));
    return true;
  }

 private:
  bool finish() {
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
      return fail(fmt::format("{}: its place makes no sense.", tensor_.name));
    const auto begin = static_cast<std::uint64_t>(offsets_[0]);
    const auto length = static_cast<std::uint64_t>(offsets_[1]) - begin;
    if (!fits(begin, length, data_->size()))
      return fail(fmt::format("it is cut off: the elements of {} lie beyond the end of the file.",
                              tensor_.name));
    const std::optional<ElementType> type = type_of_safetensors(type_name_);
    if (!type)
      return contents_.leave_out(tensor_.name, fmt::format("elements of type {} are not decoded",
                                                           type_name_.substr(0, 40))) ||
             fail("it holds more tensors than any.");
    tensor_.type = *type;
    if (type_name_ == "F4" && !pair_up())
      return fail(fmt::format("{}: its shape makes no sense.", tensor_.name));
    tensor_.strides = row_major(tensor_.sizes);
    tensor_.storage = part_of(data_, begin, length);
    if (const std::optional<std::string> problem = place_problem(tensor_))
      return fail(fmt::format("{}: {}.", tensor_.name, *problem));
    if (static_cast<std::uint64_t>(tensor_.numel()) * type->width != length)
      return fail(fmt::format("{}: its shape and its place do not fit.", tensor_.name));
    return contents_.add(std::move(tensor_)) || fail("it holds more tensors than any.");
  }

  // Two numbers are a byte: torch counts the bytes.
  bool pair_up() {
    if (tensor_.sizes.empty() || tensor_.sizes.back() % 2 != 0) return false;
    tensor_.sizes.back() /= 2;
    return true;
  }

  bool fail(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
    return false;
  }

  BytesPtr data_;
  Contents& contents_;
  StoredTensor tensor_;
  std::string type_name_;
  std::string field_;
  std::vector<std::int64_t> offsets_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool in_array_ = false;
  std::string problem_;
};

}  // namespace

Result<Contents> read_safetensors(const BytesPtr& file) {
  const Result<std::string> start = text_at(*file, 0, 8);
  if (!start) return start.error();
  if (start.value().size() < 8) return damaged("it is cut off.");
  const auto length = number_at<std::uint64_t>(start.value(), 0);
  if (length > kLargestSafetensorsHeader) return damaged("its header is too long to be true.");
  if (!fits(8, length, file->size())) return damaged("it is cut off inside its header.");
  const Result<std::string> text = text_at(*file, 8, length);
  if (!text) return text.error();
  Contents contents{.format = "safetensors"};
  SafetensorsHeader header(part_of(file, 8 + length, file->size() - 8 - length), contents);
  if (!header.read(text.value()))
    return damaged(header.problem().empty() ? "its header is not JSON." : header.problem());
  return contents;
}

}  // namespace nanscope::checkpoint
