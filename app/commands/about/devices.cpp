// rayreplay devices: the Vulkan devices of this machine and their support of the kernels.
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "kernels/device/device_list.hpp"

namespace rayreplay::app {
namespace {

std::string subgroup_text(const kernels::DeviceInfo& info) {
  return info.least_subgroup == info.greatest_subgroup
             ? fmt::format("{}", info.subgroup_size)
             : fmt::format("{} ({} to {})", info.subgroup_size, info.least_subgroup, info.greatest_subgroup);
}

std::string note_of(const kernels::DeviceInfo& info) {
  if (!info.unfit.empty()) {
    return "cannot run the kernels: " + info.unfit;
  }
  const std::string missing = info.lacks({.float64 = true, .int64_atomics = false});
  return missing.empty() ? "" : "some kernels cannot run: it lacks " + missing;
}

output::Table devices_table(const std::vector<kernels::DeviceInfo>& devices) {
  output::Table table;
  table.columns = {{"device", "device"},
                   {"name", "name"},
                   {"type", "type"},
                   {"vulkan", "Vulkan"},
                   {"memory_bytes", "memory"},
                   {"subgroup", "subgroup"},
                   {"fit", "fit"},
                   {"note", "note"},
                   {"driver", "driver", output::Show::Plain, 0, true},
                   {"uuid", "uuid", output::Show::Plain, 0, true},
                   {"most_allocation_bytes", "most_allocation_bytes", output::Show::Plain, 0, true},
                   {"most_buffer_bytes", "most_buffer_bytes", output::Show::Plain, 0, true},
                   {"most_group_threads", "most_group_threads", output::Show::Plain, 0, true},
                   {"shared_bytes", "shared_bytes", output::Show::Plain, 0, true},
                   {"float64", "float64", output::Show::Plain, 0, true},
                   {"int64_atomics", "int64_atomics", output::Show::Plain, 0, true},
                   {"sparse_buffers", "sparse_buffers", output::Show::Plain, 0, true}};
  for (const kernels::DeviceInfo& info : devices) {
    table.rows.push_back({fmt::format("vulkan:{}", info.index), info.name, std::string(to_string(info.type)), info.api,
                          info.memory_bytes, subgroup_text(info), info.unfit.empty(), note_of(info), info.driver,
                          info.uuid, info.most_allocation, info.most_buffer, std::uint64_t{info.most_group_threads},
                          std::uint64_t{info.shared_bytes}, info.has.float64, info.has.int64_atomics, info.sparse});
  }
  return table;
}

struct DevicesArguments {
  ResultOption output;
};

int act(const DevicesArguments& options) {
  options.output.check();
  std::vector<kernels::DeviceInfo> devices;
  std::string problem;
  try {
    devices = kernels::list_devices();
    problem = devices.empty() ? "there is a Vulkan loader, but no device: no driver is installed, or it sees none" : "";
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    console::note("{}", problem);
  }
  const output::Table table = devices_table(devices);
  options.output.write_result(
      {[&] {
         return fmt::format("cpu: this processor, {}\n{}", counted(std::thread::hardware_concurrency(), "thread"),
                            devices.empty() ? std::string() : "\n" + output::to_text(table));
       },
       [&] { return table; },
       [&] {
         return nlohmann::ordered_json{{"schema", "rayreplay.devices/1"},
                                       {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
                                       {"processor_threads", std::thread::hardware_concurrency()},
                                       {"problem", problem},
                                       {"rows", to_json(table)}};
       }});
  return 0;
}

void declare(CLI::App& command, DevicesArguments& options) {
  options.output.add_to(command, "Where to write the list; - is standard output");
}

}  // namespace

void add_devices_command(CLI::App& root, Session& session) {
  add_command(root, session, {"devices", "Models", "The Vulkan devices that --device can name, with their limits"},
              declare, act);
}

}  // namespace rayreplay::app
