#include "origin/verdict.h"

namespace nanscope {

Role EventView::role() const {
  if (!origin_kind) return Role::kCarrier;
  switch (*origin_kind) {
    case OriginKind::kBirth:
      return Role::kBirth;
    case OriginKind::kDeclared:
      return Role::kDeclared;
    case OriginKind::kImported:
    case OriginKind::kUnwatched:
      return Role::kImported;
    case OriginKind::kUninitialised:
      return Role::kCarrier;
    case OriginKind::kReceived:
      return Role::kReceived;
  }
  return Role::kCarrier;
}

Phase EventView::phase() const {
  const bool data =
      origin_kind == OriginKind::kImported || origin_kind == OriginKind::kUninitialised;
  return data ? Phase::kData : place.phase;
}

}  // namespace nanscope
