#include "scan/widen.h"

#include "scan/elements.h"

namespace nanscope {

void widen(const void* data, std::size_t elements, DType dtype,
           std::span<double> numbers) noexcept {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    using Format = typename Element::Format;
    const auto* at = static_cast<const std::byte*>(data);
    for (std::size_t i = 0; i < elements * Element::kParts; ++i)
      numbers[i] = Format::value(Format::load(at + i * sizeof(typename Format::Bits)));
    return 0;
  });
}

}  // namespace nanscope
