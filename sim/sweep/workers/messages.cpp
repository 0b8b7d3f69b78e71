#include "sim/sweep/workers/messages.hpp"

#include <nlohmann/json.hpp>

namespace rayreplay::sweep {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json error_json(ErrorKind kind, const ErrorInfo& info) {
  return {{"error", static_cast<int>(kind)}, {"what", info.what}, {"where", info.where}, {"found", info.found},
          {"expected", info.expected},       {"fix", info.fix}};
}

ErrorInfo error_info(const json& body) {
  return {body.at("what"), body.at("where"), body.at("found"), body.at("expected"), body.at("fix")};
}

ErrorKind error_kind(const json& body) {
  const int number = body.at("error");
  for (const ErrorKind kind : {ErrorKind::Usage, ErrorKind::Input, ErrorKind::Output, ErrorKind::Resource,
                               ErrorKind::Missing, ErrorKind::Internal}) {
    if (static_cast<int>(kind) == number) {
      return kind;
    }
  }
  throw Error(ErrorKind::Input, {"a message names no known kind of error", "", std::to_string(number), "", ""});
}

json row_json(const Done::Row& row) {
  json body{{"run", row.run},
            {"started", row.started},
            {"configuration", row.outcome.configuration},
            {"trace_hash", row.outcome.trace_hash},
            {"device", row.outcome.device},
            {"seconds", row.outcome.seconds}};
  json& metrics = body["metrics"] = json::array();
  for (const auto& [name, value] : row.outcome.metrics) {
    metrics.push_back({name, value});
  }
  if (row.outcome.failure) {
    body["failure"] = error_json(row.outcome.failure->kind, row.outcome.failure->info);
  }
  return body;
}

Done::Row parse_row(const json& body) {
  Done::Row row;
  row.run = body.at("run");
  row.started = body.at("started");
  row.outcome.configuration = body.at("configuration");
  row.outcome.trace_hash = body.at("trace_hash");
  row.outcome.device = body.at("device");
  row.outcome.seconds = body.at("seconds");
  for (const json& metric : body.at("metrics")) {
    row.outcome.metrics.emplace_back(metric.at(0).get<std::string>(), metric.at(1).get<double>());
  }
  if (body.contains("failure")) {
    row.outcome.failure = experiment::Failure{error_kind(body.at("failure")), error_info(body.at("failure"))};
  }
  return row;
}

struct Encoder {
  json operator()(const Hello& hello) const {
    json inputs = json::array();
    for (const InputFile& input : hello.inputs) {
      inputs.push_back({input.path, input.hash});
    }
    return {{"kind", "hello"},
            {"host", hello.host},
            {"tool", hello.tool},
            {"definition", hello.definition_hash},
            {"runs", hello.runs},
            {"capacity", hello.capacity},
            {"inputs", std::move(inputs)}};
  }
  json operator()(const Beat&) const {
    return {{"kind", "beat"}};
  }
  json operator()(const Assign& assign) const {
    return {{"kind", "assign"}, {"id", assign.id}, {"affinity", assign.affinity}, {"runs", assign.runs}};
  }
  json operator()(const Done& done) const {
    json rows = json::array();
    for (const Done::Row& row : done.rows) {
      rows.push_back(row_json(row));
    }
    return {{"kind", "done"}, {"id", done.id}, {"rows", std::move(rows)}};
  }
  json operator()(const Trouble& trouble) const {
    json body = error_json(trouble.kind, trouble.info);
    body["kind"] = "trouble";
    return body;
  }
  json operator()(const StopWanted&) const {
    return {{"kind", "stop-wanted"}};
  }
  json operator()(const Stop& stop) const {
    return {{"kind", "stop"}, {"grace", stop.grace_seconds}, {"finalize", stop.finalize}};
  }
  json operator()(const Bye&) const {
    return {{"kind", "bye"}};
  }
};

Message parse(const json& body) {
  const std::string kind = body.at("kind");
  if (kind == "hello") {
    Hello hello{body.at("host"), body.at("tool"), body.at("definition"), body.at("runs"), body.at("capacity"), {}};
    for (const json& input : body.at("inputs")) {
      hello.inputs.push_back({input.at(0), input.at(1)});
    }
    return hello;
  }
  if (kind == "beat") {
    return Beat{};
  }
  if (kind == "assign") {
    return Assign{body.at("id"), body.at("affinity"), body.at("runs").get<std::vector<std::uint64_t>>()};
  }
  if (kind == "done") {
    Done done{body.at("id"), {}};
    for (const json& row : body.at("rows")) {
      done.rows.push_back(parse_row(row));
    }
    return done;
  }
  if (kind == "trouble") {
    return Trouble{error_kind(body), error_info(body)};
  }
  if (kind == "stop-wanted") {
    return StopWanted{};
  }
  if (kind == "stop") {
    return Stop{body.at("grace"), body.at("finalize")};
  }
  if (kind == "bye") {
    return Bye{};
  }
  throw Error(ErrorKind::Input, {"a message is of no known kind", "", kind, "", ""});
}

}  // namespace

std::string encode(const Message& message) {
  json body = std::visit(Encoder{}, message);
  body["version"] = kVersion;
  std::string bytes;
  json::to_cbor(body, bytes);
  return bytes;
}

Message decode(std::string_view bytes, const std::string& where) {
  std::string reason;
  try {
    const json body = json::from_cbor(bytes);
    const json& version = body.at("version");
    if (version != kVersion) {
      throw Error(ErrorKind::Input, {"a message is of another version", where, version.dump(), std::to_string(kVersion),
                                     "run the same rayreplay on all machines"});
    }
    return parse(body);
  } catch (const json::exception& error) {
    reason = error.what();
  } catch (const Error& error) {
    if (!error.info().fix.empty()) {
      throw;
    }
    reason = error.what();
  }
  throw Error(ErrorKind::Input, {"a message between the processes of the sweep is not understood", where, reason, "",
                                 "run the same rayreplay on all machines"});
}

}  // namespace rayreplay::sweep
