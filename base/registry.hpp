// Model registry: how one .cpp file adds a model to the program.
//
// Contract: a model's file ends with a static `Registry<Interface>::Registrar`, which gives its description and a
// factory. Names are unique within an interface. `create("name:key=value")` resolves the spec and builds the model; an
// unknown name is a Usage error that suggests the nearest known one. Listing is sorted by name, so that output never
// depends on link order. Interface must define `static constexpr const char* kModelKind` ("packing", "launch order",
// …).
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace rayreplay {

struct ModelDescription {
  std::string kind;     ///< filled in by the registry
  std::string name;     ///< kebab-case
  std::string summary;  ///< one line, for lists
  std::string text;     ///< the computation, assumptions, complexity: paragraphs of plain text
  std::string source;   ///< paper and section, or "rayreplay"
  std::vector<Parameter> parameters;
};

/// Every model of every interface, for `rayreplay list` and `describe`. Sorted by kind, then name.
[[nodiscard]] const std::vector<ModelDescription>& all_models();
void register_description(const ModelDescription& description);

/// The name and parameters that a model was created from; empty for models that the registry did not create.
struct ModelOrigin {
  std::string name;
  Parameters parameters;
};

/// Base of interfaces whose models also have kernels: kernels/ finds the kernel by the name and parameters of the
/// model.
class HasOrigin {
 public:
  [[nodiscard]] const ModelOrigin& origin() const {
    return origin_;
  }

 private:
  template <class Interface>
  friend class Registry;
  ModelOrigin origin_;
};

template <class Interface>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Interface>(const Parameters&)>;

  struct Created {
    std::unique_ptr<Interface> model;
    std::string spec;  ///< resolved, with every parameter
  };

  struct Registrar {
    Registrar(ModelDescription description, Factory factory) {
      description.kind = Interface::kModelKind;
      const std::string name = description.name;
      register_description(description);
      if (!entries().emplace(name, Entry{std::move(description), std::move(factory)}).second) {
        throw Error(ErrorKind::Internal, {"two models have one name", Interface::kModelKind, name, "", ""});
      }
    }
  };

  [[nodiscard]] static std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries()) {
      result.push_back(name);
    }
    return result;
  }

  [[nodiscard]] static const ModelDescription& describe(const std::string& name) {
    return find(name).description;
  }

  [[nodiscard]] static Created create(std::string_view spec_text) {
    const ModelSpec spec = parse_spec(spec_text);
    const Entry& entry = find(spec.name);
    const Parameters parameters = resolve(entry.description.parameters, spec.settings,
                                          std::string(Interface::kModelKind) + " '" + spec.name + "'");
    Created created{entry.factory(parameters), to_spec(spec.name, parameters)};
    if constexpr (std::derived_from<Interface, HasOrigin>) {
      created.model->origin_ = {spec.name, parameters};
    }
    return created;
  }

 private:
  struct Entry {
    ModelDescription description;
    Factory factory;
  };

  static std::map<std::string, Entry>& entries() {
    static std::map<std::string, Entry> map;
    return map;
  }

  static const Entry& find(const std::string& name) {
    const auto it = entries().find(name);
    if (it != entries().end()) {
      return it->second;
    }
    std::string known;
    for (const auto& [other, entry] : entries()) {
      known += (known.empty() ? "" : ", ") + other;
    }
    const std::string near = nearest(name, names());
    throw Error(ErrorKind::Usage, {std::string("unknown ") + Interface::kModelKind, "", "'" + name + "'",
                                   "one of " + known, near.empty() ? "" : "did you mean '" + near + "'?"});
  }
};

}  // namespace rayreplay
