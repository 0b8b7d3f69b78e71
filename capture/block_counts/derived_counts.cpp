#include "capture/block_counts/derived_counts.hpp"

#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace rayreplay::block_counts {
namespace {

/// Sums of any damaged counters: 2^31 arcs of 64 bits fit.
__extension__ using Wide = __int128;

std::string name_of(const CounterSite& site) {
  return site.from == kNoNode ? "block " + std::to_string(site.to)
                              : "the edge from block " + std::to_string(site.from) + " to " + std::to_string(site.to);
}

class Derivation {
 public:
  Derivation(const spirv::ControlFlow& flow, const std::vector<bool>& may_end)
      : network_(flow, may_end), values_(network_.arcs.size()), places_(network_.places) {
    for (std::size_t a = 0; a < network_.arcs.size(); ++a) {
      places_[network_.arcs[a].from_place].arcs.push_back(a);
      places_[network_.arcs[a].to_place].arcs.push_back(a);
      if (network_.arcs[a].kind == Arc::Kind::Block) {
        arc_of_[{kNoNode, network_.arcs[a].to}] = a;
      } else if (network_.arcs[a].kind == Arc::Kind::Edge) {
        arc_of_[{network_.arcs[a].from, network_.arcs[a].to}] = a;
      }
    }
    for (Place& place : places_) {
      place.unknown = place.arcs.size();
    }
  }

  [[nodiscard]] bool count(const CounterSite& site, std::uint64_t count) {
    const auto arc = arc_of_.find({site.from, site.to});
    if (arc != arc_of_.end() && !values_[arc->second]) {
      return set(arc->second, static_cast<Wide>(count));
    }
    fault_ = name_of(site) + " is counted, which the function does not have, or has a counter already";
    return false;
  }

  void run() {
    for (std::uint32_t p = 0; p < network_.places; ++p) {
      open_.push_back(p);
    }
    while (!open_.empty() && fault_.empty()) {
      const std::uint32_t p = open_.back();
      open_.pop_back();
      if (places_[p].unknown == 1) {
        solve(p);
      }
    }
    for (std::uint32_t p = 0; p < network_.places && fault_.empty(); ++p) {
      if (places_[p].unknown == 0 && places_[p].balance != 0) {
        fault_ = place_name(p) + ": not as many invocations come in as go out";
      }
    }
  }

  [[nodiscard]] DerivedCounts finish(std::size_t blocks) {
    DerivedCounts result;
    result.blocks.assign(blocks, 0);
    for (std::size_t a = 0; a < network_.arcs.size() && fault_.empty(); ++a) {
      const Arc& arc = network_.arcs[a];
      if (arc.kind != Arc::Kind::Block) {
        continue;
      }
      if (!values_[a]) {
        fault_ = "the counters do not determine block " + std::to_string(arc.to);
      } else if (*values_[a] > static_cast<Wide>(std::numeric_limits<std::uint64_t>::max())) {
        fault_ = "block " + std::to_string(arc.to) + " has a count of more than 64 bits";
      } else {
        result.blocks[arc.to] = static_cast<std::uint64_t>(*values_[a]);
      }
    }
    result.fault = fault_;
    return result;
  }

 private:
  struct Place {
    std::vector<std::size_t> arcs;
    std::size_t unknown = 0;
    Wide balance = 0;  ///< of known arcs: in less out
  };

  [[nodiscard]] std::string place_name(std::uint32_t p) const {
    return p + 1 == network_.places ? "calls and ends" : "block " + std::to_string(p / 2);
  }

  bool set(std::size_t a, Wide value) {
    const Arc& arc = network_.arcs[a];
    if (value < 0) {
      fault_ = name_of({arc.kind == Arc::Kind::Block ? kNoNode : arc.from, arc.to == kNoNode ? arc.from : arc.to}) +
               " would have a negative count";
      return false;
    }
    values_[a] = value;
    places_[arc.from_place].balance -= value;
    places_[arc.to_place].balance += value;
    for (const std::uint32_t p : {arc.from_place, arc.to_place}) {
      --places_[p].unknown;
      open_.push_back(p);
    }
    return true;
  }

  void solve(std::uint32_t p) {
    for (const std::size_t a : places_[p].arcs) {
      if (!values_[a]) {
        set(a, network_.arcs[a].to_place == p ? -places_[p].balance : places_[p].balance);
        return;
      }
    }
  }

  FlowNetwork network_;
  std::vector<std::optional<Wide>> values_;              ///< by arc
  std::map<std::pair<Node, Node>, std::size_t> arc_of_;  ///< by site
  std::vector<Place> places_;
  std::vector<std::uint32_t> open_;
  std::string fault_;
};

}  // namespace

DerivedCounts derive_counts(const spirv::ControlFlow& flow, const std::vector<bool>& may_end,
                            std::span<const CounterSite> sites, std::span<const std::uint64_t> counts) {
  Derivation derivation(flow, may_end);
  bool sound = true;
  for (std::size_t i = 0; i < sites.size() && sound; ++i) {
    sound = derivation.count(sites[i], counts[i]);
  }
  if (sound) {
    derivation.run();
  }
  return derivation.finish(flow.graph.size());
}

}  // namespace rayreplay::block_counts
