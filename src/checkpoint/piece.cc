#include "checkpoint/piece.h"

#include <algorithm>
#include <cstring>

#include "checkpoint/gguf_blocks.h"
#include "scan/statistics.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kBufferBytes = 128 << 10;  // what a core's own cache holds
constexpr std::size_t kMostNumbers = 32 << 10;

}  // namespace

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
}

PieceReader::PieceReader() : buffer_(kBufferBytes) {}

PieceFacts PieceReader::look_at(const StoredTensor& tensor, const ViewOrder& order,
                                const Piece& piece) {
  PieceFacts facts;
  const std::unique_ptr<Cursor> cursor = tensor.storage->cursor();
  if (tensor.type.block != nullptr)
    look_at_blocks(tensor, *cursor, piece, facts);
  else if (order.dense)
    look_at_dense(tensor, *cursor, piece, facts);
  else
    look_at_rows(tensor, *cursor, order, facts);
  facts.census.repeat(order.repeats);
  return facts;
}

bool PieceReader::read(const StoredTensor& tensor, Cursor& cursor, std::int64_t first,
                       std::size_t elements, PieceFacts& facts) {
  const std::size_t width = tensor.type.width;
  const std::span<std::byte> to = std::span(buffer_).first(elements * width);
  const Status done = cursor.read(tensor.offset + static_cast<std::uint64_t>(first) * width, to);
  if (!done) facts.error = done.error();
  if (done && tensor.type.big_endian)
    swap_bytes(to, is_complex(tensor.type.dtype) ? width / 2 : width);
  return done.ok();
}

void PieceReader::count(const StoredTensor& tensor, std::int64_t first, std::int64_t stride,
                        std::size_t elements, PieceFacts& facts) {
  const Census census = census_of(buffer_.data(), elements, tensor.type.dtype);
  facts.census.add(census);
  if (census.non_finite() == 0 || facts.bad_at) return;
  const auto size = static_cast<std::int64_t>(elements);
  const std::int64_t one = 1;
  const std::vector<Index> bad = first_bad({.data = buffer_.data(),
                                            .dtype = tensor.type.dtype,
                                            .sizes = {&size, 1},
                                            .strides = {&one, 1}},
                                           1);
  if (!bad.empty()) facts.bad_at = first + bad[0][0] * stride;
}

void PieceReader::look_at_dense(const StoredTensor& tensor, Cursor& cursor, const Piece& piece,
                                PieceFacts& facts) {
  const auto most = static_cast<std::int64_t>(kBufferBytes / tensor.type.width);
  for (std::int64_t done = 0; done < piece.count; done += most) {
    const auto elements = static_cast<std::size_t>(std::min(most, piece.count - done));
    const std::int64_t first = piece.begin + done;
    if (!read(tensor, cursor, first, elements, facts)) return;
    count(tensor, first, 1, elements, facts);
  }
}

void PieceReader::look_at_blocks(const StoredTensor& tensor, Cursor& cursor, const Piece& piece,
                                 PieceFacts& facts) {
  const BlockFormat& format = *tensor.type.block;
  const std::int64_t most = std::min<std::int64_t>(
      kBufferBytes / format.bytes, static_cast<std::int64_t>(kMostNumbers / format.elements));
  numbers_.resize(kMostNumbers);
  for (std::int64_t done = 0; done < piece.count; done += most) {
    const auto blocks = static_cast<std::size_t>(std::min(most, piece.count - done));
    const auto first = static_cast<std::uint64_t>(piece.begin + done);
    const Status read = cursor.read(tensor.offset + first * format.bytes,
                                    std::span(buffer_).first(blocks * format.bytes));
    if (!read) {
      facts.error = read.error();
      return;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(buffer_.data());
    for (std::size_t i = 0; i < blocks; ++i)
      format.decode(bytes + i * format.bytes, numbers_.data() + i * format.elements);
    const std::size_t elements = blocks * format.elements;
    const Census census = census_of(numbers_.data(), elements, DType::kFloat32);
    facts.census.add(census);
    if (census.non_finite() == 0 || facts.bad_at) continue;
    const auto bad =
        std::find_if(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(elements),
                     [](float number) { return !(number - number == 0); });
    facts.bad_at = static_cast<std::int64_t>(first) * format.elements + (bad - numbers_.begin());
  }
}

// A view with gaps: row by row in the order of memory.
void PieceReader::look_at_rows(const StoredTensor& tensor, Cursor& cursor, const ViewOrder& order,
                               PieceFacts& facts) {
  const std::size_t outer = order.dims.size() - 1;
  std::vector<std::int64_t> at(outer, 0);
  std::int64_t first = 0;
  while (!facts.error) {
    look_at_row(tensor, cursor, order.dims.back(), first, facts);
    std::size_t dim = outer;
    while (dim-- > 0) {
      first += order.dims[dim].stride;
      if (++at[dim] < order.dims[dim].size) break;
      first -= order.dims[dim].size * order.dims[dim].stride;
      at[dim] = 0;
    }
    if (dim == static_cast<std::size_t>(-1)) return;
  }
}

// Reads what lies between the elements too, and moves the elements together.
void PieceReader::look_at_row(const StoredTensor& tensor, Cursor& cursor, const ViewOrder::Dim& row,
                              std::int64_t first, PieceFacts& facts) {
  const std::size_t width = tensor.type.width;
  const auto room = static_cast<std::int64_t>(kBufferBytes / width);
  const std::int64_t most = row.stride >= room ? 1 : (room - 1) / row.stride + 1;
  for (std::int64_t done = 0; done < row.size; done += most) {
    const std::int64_t taken = std::min(most, row.size - done);
    const std::int64_t begin = first + done * row.stride;
    const auto reach = static_cast<std::size_t>((taken - 1) * row.stride + 1);
    if (!read(tensor, cursor, begin, reach, facts)) return;
    for (std::int64_t i = 1; i < taken && row.stride > 1; ++i)
      std::memmove(buffer_.data() + static_cast<std::size_t>(i) * width,
                   buffer_.data() + static_cast<std::size_t>(i * row.stride) * width, width);
    count(tensor, begin, row.stride, static_cast<std::size_t>(taken), facts);
  }
}

}  // namespace nanscope::checkpoint
