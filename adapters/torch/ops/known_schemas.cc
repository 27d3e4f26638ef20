#include "adapters/torch/ops/known_schemas.h"

#include <algorithm>
#include <iterator>

namespace nanscope::torch_adapter {
namespace {

struct KnownSchema {
  std::string_view op;
  std::uint64_t hash;
};

// Sorted by op; one with several schemas stands there several times.
constexpr KnownSchema kSchemas[] = {
#include "adapters/torch/ops/known_schemas.inc"
};

}  // namespace

// FNV-1a.
std::uint64_t hash_of_schema(std::string_view schema) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : schema)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

bool is_known_schema(std::string_view op, std::string_view schema) {
  const auto [first, last] =
      std::equal_range(std::begin(kSchemas), std::end(kSchemas), KnownSchema{op, 0},
                       [](const KnownSchema& a, const KnownSchema& b) { return a.op < b.op; });
  const std::uint64_t hash = hash_of_schema(schema);
  return std::any_of(first, last, [&](const KnownSchema& known) { return known.hash == hash; });
}

}  // namespace nanscope::torch_adapter
