#include "sim/sweep/workers/team.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/sweep/results/result_row.hpp"

namespace rayreplay::sweep {
namespace {

// A rank's message to the others: {"host": …, "texts": […], "kind": …, "error": […]}; the latter two after an error.
// CBOR, because texts may hold any bytes.
nlohmann::json decode(const std::string& bytes, std::size_t rank) {
  nlohmann::json message = nlohmann::json::from_cbor(bytes, true, false);
  if (!message.is_object() || !message.contains("host") || !message.contains("texts")) {
    throw Error(ErrorKind::Input, {"a message of another rank is not understood", fmt::format("rank {}", rank), "", "",
                                   "run the same rayreplay on all machines"});
  }
  return message;
}

}  // namespace

std::vector<RankResult> in_step(Team* team, const std::function<Texts()>& step) {
  if (team == nullptr) {
    return {{"", step()}};
  }
  nlohmann::json mine{{"host", host_name()}, {"texts", Texts{}}};
  const auto failed = [&mine](ErrorKind kind, const ErrorInfo& info) {
    mine["kind"] = kind;
    mine["error"] = Texts{info.what, info.where, info.found, info.expected, info.fix};
  };
  try {
    mine["texts"] = step();
  } catch (const RankFailed&) {  // from a nested step, on all ranks
    throw;
  } catch (const TeamFailed&) {
    throw;
  } catch (const Error& error) {
    failed(error.kind(), error.info());
  } catch (const std::exception& error) {
    failed(ErrorKind::Internal, {error.what(), "", "", "", ""});
  }
  std::string bytes;
  nlohmann::json::to_cbor(mine, bytes);
  std::vector<RankResult> results;
  std::optional<Error> first;
  for (const std::string& told : team->gather(bytes)) {
    const std::size_t rank = results.size();
    const nlohmann::json message = decode(told, rank);
    const RankResult& result = results.emplace_back(RankResult{
        fmt::format("rank {} on {}", rank, message["host"].get<std::string>()), message["texts"].get<Texts>()});
    if (message.contains("error") && !first) {
      const auto error = message["error"].get<std::array<std::string, 5>>();
      ErrorInfo info{error[0], error[1], error[2], error[3], error[4]};
      if (rank > 0) {
        info.where = result.name + (info.where.empty() ? "" : ", " + info.where);
      }
      first.emplace(message["kind"].get<ErrorKind>(), std::move(info));
    }
  }
  if (first) {
    throw_on(*team, first->kind(), first->info());
  }
  return results;
}

void throw_on(const Team& team, ErrorKind kind, const ErrorInfo& info) {
  if (team.rank() == 0) {
    throw TeamFailed(kind, info);
  }
  throw RankFailed();
}

}  // namespace rayreplay::sweep
