#include "capture/cbor_check.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace nanscope {
namespace {

enum Major : std::uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

struct Item {
  std::uint8_t major;
  std::uint8_t info;
  std::uint64_t argument;
};

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
  void skip(std::size_t bytes) noexcept { rest_.remove_prefix(bytes); }

  std::optional<Item> head() noexcept {
    if (rest_.empty()) return std::nullopt;
    const std::uint8_t first = byte();
    Item item{static_cast<std::uint8_t>(first >> 5), static_cast<std::uint8_t>(first & 31), 0};
    if (item.info < 24) {
      item.argument = item.info;
      return item;
    }
    if (item.info > 27) return std::nullopt;  // reserved, or of indefinite length
    const std::size_t width = std::size_t{1} << (item.info - 24);
    if (rest_.size() < width) return std::nullopt;
    for (std::size_t i = 0; i < width; ++i) item.argument = item.argument << 8 | byte();
    return item;
  }

 private:
  std::uint8_t byte() noexcept {
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }

  std::string_view rest_;
};

// How many items an item opens; nothing if it is malformed.
std::optional<std::uint64_t> children_of(const Item& item, Cursor& cursor) noexcept {
  switch (item.major) {
    case kBytes:
    case kText:
      if (item.argument > cursor.left()) return std::nullopt;
      cursor.skip(static_cast<std::size_t>(item.argument));
      return 0;
    case kArray:  // each child is at least one byte
      if (item.argument > cursor.left()) return std::nullopt;
      return item.argument;
    case kMap:
      if (item.argument > cursor.left() / 2) return std::nullopt;
      return item.argument * 2;
    case kTag:
      return std::nullopt;
    case kSimple:  // false, true, null and the three float widths
      if ((item.info >= 20 && item.info <= 22) || item.info >= 25) return 0;
      return std::nullopt;
    default:
      return 0;
  }
}

}  // namespace

bool is_safe_cbor(std::string_view payload) noexcept {
  Cursor cursor(payload);
  std::array<std::uint64_t, kMostCborDepth> open{};  // items still missing, per level
  std::size_t depth = 0;
  open[0] = 1;
  for (int items = 0; items < kMostCborItems; ++items) {
    while (open[depth] == 0) {
      if (depth == 0) return cursor.left() == 0;
      --depth;
    }
    --open[depth];
    const std::optional<Item> item = cursor.head();
    if (!item) return false;
    const std::optional<std::uint64_t> children = children_of(*item, cursor);
    if (!children) return false;
    if (*children == 0) continue;
    if (++depth == open.size()) return false;
    open[depth] = *children;
  }
  return false;
}

}  // namespace nanscope
