// A stretch of a tensor that one thread looks at: the unit of work of a survey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "checkpoint/contents.h"
#include "checkpoint/view_order.h"
#include "scan/census.h"

namespace nanscope::checkpoint {

struct Piece {
  std::size_t tensor = 0;
  // Elements of a dense tensor, blocks of a packed one; of any other tensor, all.
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

struct PieceFacts {
  Census census;
  std::optional<std::int64_t> bad_at;  // elements behind the tensor's first
  std::optional<Error> error;
};

// The buffers of a thread.
class PieceReader {
 public:
  PieceReader();
  [[nodiscard]] PieceFacts look_at(const StoredTensor& tensor, const ViewOrder& order,
                                   const Piece& piece);

 private:
  // `first`: elements behind the tensor's first. The elements lie in `buffer_`.
  void count(const StoredTensor& tensor, std::int64_t first, std::int64_t stride,
             std::size_t elements, PieceFacts& facts);
  void look_at_dense(const StoredTensor& tensor, Cursor& cursor, const Piece& piece,
                     PieceFacts& facts);
  void look_at_blocks(const StoredTensor& tensor, Cursor& cursor, const Piece& piece,
                      PieceFacts& facts);
  void look_at_rows(const StoredTensor& tensor, Cursor& cursor, const ViewOrder& order,
                    PieceFacts& facts);
  void look_at_row(const StoredTensor& tensor, Cursor& cursor, const ViewOrder::Dim& row,
                   std::int64_t first, PieceFacts& facts);
  [[nodiscard]] bool read(const StoredTensor& tensor, Cursor& cursor, std::int64_t first,
                          std::size_t elements, PieceFacts& facts);

  std::vector<std::byte> buffer_;
  std::vector<float> numbers_;  // of packed blocks
};

// In the other byte order; `width` of a number, half an element's if that is complex.
void swap_bytes(std::span<std::byte> bytes, std::size_t width);

}  // namespace nanscope::checkpoint
