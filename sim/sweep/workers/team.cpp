#include "sim/sweep/workers/team.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/sweep/workers/local_pool.hpp"

namespace rayreplay::sweep {
namespace {

/// Host, result of the step, and its error.
using Message = std::vector<std::string>;
constexpr std::size_t kWithoutError = 2;
constexpr std::size_t kWithError = 8;

// CBOR, because texts may hold any bytes.
std::string encode(const Message& message) {
  std::string bytes;
  nlohmann::json::to_cbor(nlohmann::json(message), bytes);
  return bytes;
}

Message decode(const std::string& bytes, const std::string& where) {
  const nlohmann::json json = nlohmann::json::from_cbor(bytes, true, false);
  const bool known = json.is_array() && (json.size() == kWithoutError || json.size() == kWithError);
  if (!known) {
    throw Error(ErrorKind::Input, {"a message of another rank is not understood", where, "", "",
                                   "run the same rayreplay on all machines"});
  }
  return json.get<Message>();
}

}  // namespace

std::vector<RankResult> in_step(Team* team, const std::function<std::string()>& step) {
  if (team == nullptr) {
    return {{"", step()}};
  }
  Message mine{host_name(), ""};
  const auto failed = [&](ErrorKind kind, const ErrorInfo& info) {
    mine.insert(mine.end(),
                {std::to_string(static_cast<int>(kind)), info.what, info.where, info.found, info.expected, info.fix});
  };
  try {
    mine[1] = step();
  } catch (const RankFailed&) {  // from a nested step, on all ranks
    throw;
  } catch (const TeamFailed&) {
    throw;
  } catch (const Error& error) {
    failed(error.kind(), error.info());
  } catch (const std::exception& error) {
    failed(ErrorKind::Internal, {error.what(), "", "", "", ""});
  }
  std::vector<RankResult> results;
  std::optional<Error> first;
  for (const std::string& bytes : team->gather(encode(mine))) {
    const std::size_t rank = results.size();
    Message message = decode(bytes, fmt::format("rank {}", rank));
    RankResult& result = results.emplace_back();
    result.name = fmt::format("rank {} on {}", rank, message[0]);
    result.text = std::move(message[1]);
    if (message.size() == kWithError && !first) {
      ErrorInfo info{message[3], message[4], message[5], message[6], message[7]};
      if (rank > 0) {
        info.where = result.name + (info.where.empty() ? "" : ", " + info.where);
      }
      first.emplace(static_cast<ErrorKind>(std::stoi(message[2])), std::move(info));
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
