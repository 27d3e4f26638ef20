// The elements of a stored tensor as float64, in the order of their indices: to set two tensors
// side by side, whatever their types and places.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/contents.h"

namespace nanscope::checkpoint {

class ElementStream {
 public:
  explicit ElementStream(const StoredTensor& tensor);

  // Can it be streamed? Not whole numbers, nor views that would have to be held in memory beyond a
  // limit or that repeat a few elements without end.
  [[nodiscard]] bool possible() const { return possible_; }
  // The next `elements`, a complex one as two numbers. The caller knows how many there are.
  [[nodiscard]] Result<std::span<const double>> next(std::size_t elements);

  static constexpr std::size_t kMostAtOnce = 8192;  // a whole number of blocks of any type

 private:
  [[nodiscard]] Status fill(std::size_t elements);
  [[nodiscard]] Status fill_from_blocks(std::size_t elements);
  [[nodiscard]] Status fill_by_index(std::size_t elements);
  [[nodiscard]] Status load_storage();
  void step_index();

  const StoredTensor& tensor_;
  std::unique_ptr<Cursor> cursor_;
  bool possible_ = false;
  bool row_major_ = false;
  std::uint64_t position_ = 0;  // elements given
  std::vector<std::byte> bytes_;
  std::vector<double> numbers_;
  // Of a view that is not row-major: all of it, and where we are in it.
  std::string whole_;
  bool loaded_ = false;
  std::vector<std::int64_t> index_;
};

}  // namespace nanscope::checkpoint
