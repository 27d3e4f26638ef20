// .gguf: a header of keys and values, the list of tensors, then their elements, aligned.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "checkpoint/gguf_blocks.h"
#include "checkpoint/readers.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::uint64_t kMostKeys = 1'000'000;

// Reads forward through a window of the file.
class GgufHeader {
 public:
  explicit GgufHeader(const BytesPtr& file) : size_(file->size()), cursor_(file->cursor()) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t left() const { return size_ - position_; }
  [[nodiscard]] bool ok() const { return ok_; }
  void fail() { ok_ = false; }

  template <class Number>
  Number number() {
    Number number{};
    take(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }

  std::string text(std::uint64_t limit) {
    const auto length = number<std::uint64_t>();
    if (length > limit || length > left()) fail();
    if (!ok_) return {};
    std::string text(static_cast<std::size_t>(length), '\0');
    take(std::as_writable_bytes(std::span(text)));
    return text;
  }

  void skip(std::uint64_t bytes) {
    if (bytes > left()) fail();
    if (ok_) position_ += bytes;
  }

 private:
  void take(std::span<std::byte> to) {
    if (to.size() > left()) fail();
    while (ok_ && !to.empty()) {
      if (position_ < window_begin_ || position_ >= window_begin_ + window_.size()) refill();
      if (!ok_) return;
      const auto from = static_cast<std::size_t>(position_ - window_begin_);
      const std::size_t taken = std::min(to.size(), window_.size() - from);
      std::memcpy(to.data(), window_.data() + from, taken);
      to = to.subspan(taken);
      position_ += taken;
    }
  }

  void refill() {
    window_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left(), 64 << 10)));
    window_begin_ = position_;
    if (!cursor_->read(position_, std::as_writable_bytes(std::span(window_)))) fail();
  }

  std::uint64_t size_;
  std::unique_ptr<Cursor> cursor_;
  std::string window_;
  std::uint64_t window_begin_ = 0;
  std::uint64_t position_ = 0;
  bool ok_ = true;
};

// Bytes of a value, by its type; 0: texts and arrays, which say their own length.
std::uint64_t width_of_value(std::uint32_t type) {
  static constexpr std::uint64_t kWidths[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < std::size(kWidths) ? kWidths[type] : 0;
}

constexpr std::uint32_t kUint32Value = 4;
constexpr std::uint32_t kTextValue = 8;
constexpr std::uint32_t kArrayValue = 9;

// Passes over a value. Arrays may hold arrays: what is still to come is counted, not recursed.
void skip_value(GgufHeader& header, std::uint32_t type) {
  struct Pending {
    std::uint32_t type;
    std::uint64_t count;
  };
  std::vector<Pending> pending{{type, 1}};
  while (!pending.empty() && header.ok()) {
    Pending& last = pending.back();
    if (last.count == 0) {
      pending.pop_back();
      continue;
    }
    if (const std::uint64_t width = width_of_value(last.type); width != 0) {
      if (last.count > header.left() / width) return header.fail();
      header.skip(last.count * width);
      pending.pop_back();
    } else if (last.type == kTextValue) {
      --last.count;
      header.skip(header.number<std::uint64_t>());
    } else if (last.type == kArrayValue && pending.size() < 16) {
      --last.count;
      const auto inner = header.number<std::uint32_t>();
      pending.push_back({inner, header.number<std::uint64_t>()});
    } else {
      return header.fail();
    }
  }
}

struct GgufTensor {
  StoredTensor tensor;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

GgufTensor next_tensor(GgufHeader& header) {
  GgufTensor next;
  next.tensor.name = header.text(65535);
  const auto rank = header.number<std::uint32_t>();
  if (rank > 8) header.fail();
  for (std::uint32_t dim = 0; dim < rank && header.ok(); ++dim)
    next.tensor.sizes.push_back(header.number<std::int64_t>());
  // The first dimension runs fastest; torch and NumPy write it last.
  std::reverse(next.tensor.sizes.begin(), next.tensor.sizes.end());
  next.type = header.number<std::uint32_t>();
  next.offset = header.number<std::uint64_t>();
  return next;
}

std::optional<ElementType> plain_type(std::uint32_t id) {
  switch (id) {
    case 0:
      return type_named("float32");
    case 1:
      return type_named("float16");
    case 24:
      return type_named("int8");
    case 25:
      return type_named("int16");
    case 26:
      return type_named("int32");
    case 27:
      return type_named("int64");
    case 28:
      return type_named("float64");
    case 30:
      return type_named("bfloat16");
    default:
      return std::nullopt;
  }
}

// A packed tensor is a run of blocks: `place_problem` cannot count those.
std::optional<std::string> block_problem(const StoredTensor& tensor, const BlockFormat& block) {
  std::int64_t numel = 1;
  bool empty = false;
  for (const std::int64_t size : tensor.sizes) {
    empty |= size == 0;
    if (size < 0 || __builtin_mul_overflow(numel, size > 0 ? size : 1, &numel))
      return "its shape makes no sense";
  }
  if (empty) return std::nullopt;
  const std::int64_t row = tensor.sizes.empty() ? 1 : tensor.sizes.back();
  if (row % block.elements != 0) return "its shape does not fit its type";
  const std::uint64_t blocks = static_cast<std::uint64_t>(numel) / block.elements;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, block.bytes, &bytes) ||
      !fits(tensor.offset, bytes, tensor.storage->size()))
    return "its elements lie beyond the end of the file";
  return std::nullopt;
}

Status add_gguf_tensor(GgufTensor next, const BytesPtr& data, Contents& contents) {
  StoredTensor& tensor = next.tensor;
  const BlockFormat* const block = block_format(next.type);
  const std::optional<ElementType> plain = plain_type(next.type);
  if (block == nullptr && !plain) {
    const std::string why = fmt::format("elements of GGUF's type {} are not decoded", next.type);
    if (!contents.leave_out(tensor.name, why)) return damaged("it holds more tensors than any.");
    return Done{};
  }
  tensor.type =
      plain.value_or(ElementType{.name = block != nullptr ? block->name : "", .block = block});
  tensor.storage = data;
  tensor.offset = next.offset;
  tensor.strides = row_major(tensor.sizes);
  const std::optional<std::string> problem =
      block != nullptr ? block_problem(tensor, *block) : place_problem(tensor);
  if (problem) return damaged(fmt::format("{}: {}.", tensor.name, *problem));
  if (!contents.add(std::move(tensor))) return damaged("it holds more tensors than any.");
  return Done{};
}

}  // namespace

Result<Contents> read_gguf(const BytesPtr& file) {
  GgufHeader header(file);
  header.skip(4);  // the magic word
  const auto version = header.number<std::uint32_t>();
  if (header.ok() && (version < 2 || version > 3))
    return damaged(version > 0xffff ? "GGUF files for big-endian machines are not decoded."
                                    : "it is of a version of GGUF that nanscope does not know.");
  const auto tensors = header.number<std::uint64_t>();
  const auto keys = header.number<std::uint64_t>();
  if (header.ok() && (tensors > kMostTensors || keys > kMostKeys))
    return damaged("its header is too large to be true.");
  std::uint64_t alignment = 32;
  for (std::uint64_t i = 0; i < keys && header.ok(); ++i) {
    const std::string key = header.text(65535);
    const auto type = header.number<std::uint32_t>();
    if (key == "general.alignment" && type == kUint32Value)
      alignment = header.number<std::uint32_t>();
    else
      skip_value(header, type);
  }
  std::vector<GgufTensor> found;
  for (std::uint64_t i = 0; i < tensors && header.ok(); ++i) found.push_back(next_tensor(header));
  if (!header.ok() || alignment == 0 || (alignment & (alignment - 1)) != 0)
    return damaged("its header is damaged or cut off.");
  const std::uint64_t begin = (header.position() + alignment - 1) & ~(alignment - 1);
  if (begin > file->size() && tensors > 0) return damaged("it is cut off behind its header.");
  const BytesPtr data =
      part_of(file, std::min(begin, file->size()), file->size() - std::min(begin, file->size()));
  Contents contents{.format = "GGUF"};
  for (GgufTensor& next : found)
    if (Status added = add_gguf_tensor(std::move(next), data, contents); !added)
      return added.error();
  return contents;
}

}  // namespace nanscope::checkpoint
