// NumPy's .npy: a magic word, the length of a header, a Python dictionary in text, the elements.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "checkpoint/little_endian.h"
#include "checkpoint/numpy_type.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 1 << 20;

// What stands behind 'KEY': in the header's dictionary.
std::string_view value_behind(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

// "(3, 4), ..."
std::optional<std::vector<std::int64_t>> shape_in(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  text = text.substr(1, text.find(')') - 1);
  std::vector<std::int64_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == 'L') {
      ++at;
      continue;
    }
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || sizes.size() >= 64) return std::nullopt;
    sizes.push_back(size);
    at = next;
  }
  return sizes;
}

struct NpyHeader {
  std::string text;
  std::uint64_t data_begins = 0;
};

Result<NpyHeader> npy_header(const Bytes& file) {
  const Result<std::string> start = text_at(file, 0, 12);
  if (!start) return start.error();
  const std::string& bytes = start.value();
  if (bytes.size() < 12 || !bytes.starts_with(kNpyMagic)) return damaged("it is cut off.");
  const bool wide = bytes[6] >= 2;  // the version
  const std::uint32_t length =
      wide ? number_at<std::uint32_t>(bytes, 8) : number_at<std::uint16_t>(bytes, 8);
  const std::uint64_t begin = wide ? 12 : 10;
  if (length > kLongestHeader) return damaged("its header is too long to be true.");
  if (!fits(begin, length, file.size())) return damaged("it is cut off.");
  Result<std::string> text = text_at(file, begin, length);
  if (!text) return text.error();
  return NpyHeader{std::move(text.value()), begin + length};
}

Status add_array(const BytesPtr& file, const std::string& name, Contents& contents) {
  const Result<NpyHeader> header = npy_header(*file);
  if (!header) return header.error();
  const std::string_view text = header.value().text;
  const std::string_view description = value_behind(text, "descr");
  const std::optional<std::vector<std::int64_t>> sizes = shape_in(value_behind(text, "shape"));
  if (description.empty() || !sizes) return damaged("its header makes no sense.");
  std::optional<ElementType> type;
  if (description[0] == '\'')
    type = type_of_numpy(description.substr(1, description.find('\'', 1) - 1));
  if (!type) {
    const std::string shown(description.substr(
        0,
        std::min<std::size_t>(description.find_first_of(description[0] == '\'' ? "," : "]"), 40)));
    if (!contents.leave_out(name, fmt::format("elements of type {} are not decoded", shown)))
      return damaged("it holds more arrays than any.");
    return Done{};
  }
  StoredTensor tensor{.name = name, .type = *type, .sizes = *sizes, .storage = file};
  tensor.offset = header.value().data_begins;
  if (value_behind(text, "fortran_order").starts_with("True")) {
    tensor.strides = row_major({sizes->rbegin(), sizes->rend()});
    std::reverse(tensor.strides.begin(), tensor.strides.end());
  } else {
    tensor.strides = row_major(*sizes);
  }
  if (const std::optional<std::string> problem = place_problem(tensor))
    return damaged(fmt::format("{}{}{}.", name, name.empty() ? "" : ": ", *problem));
  if (!contents.add(std::move(tensor))) return damaged("it holds more arrays than any.");
  return Done{};
}

}  // namespace

Result<Contents> read_npy(const BytesPtr& file) {
  Contents contents{.format = "npy"};
  if (Status added = add_array(file, "", contents); !added) return added.error();
  return contents;
}

Result<Contents> read_npz(const Zip& zip) {
  Contents contents{.format = "npz"};
  for (const auto& [name, member] : zip.members()) {
    if (!name.ends_with(".npy")) {
      if (!contents.leave_out(name, "it is not an array")) return damaged("it holds too much.");
      continue;
    }
    const Result<BytesPtr> bytes = zip.bytes_of(name);
    if (!bytes) return bytes.error();
    const std::string plain = name.substr(0, name.size() - 4);
    if (Status added = add_array(bytes.value(), plain, contents); !added) return added.error();
  }
  return contents;
}

}  // namespace nanscope::checkpoint
