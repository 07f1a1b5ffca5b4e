// Settings as a JSON schema of docs/schema describes them: the reader that camshaft.config is in
// Python, with its ways to write values and its sentences about mistakes.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace camshaft::settings {

using Json = nlohmann::ordered_json;

// Settings that cannot be: a line for each, with its key.
class SettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The settings in one form each: shapes as {"min": [], "opt": [], "max": []}, lists as arrays,
// sizes in bytes and intervals as numbers. `given` are values by key. Throws SettingsError.
Json readSettings(const Json& schema, const Json& given);

// A value that is written as a text: JSON, but where the setting is a text itself.
Json parseText(const Json& schema, const std::string& key, const std::string& text);

// Of the words the one that was meant, as Python's difflib finds it; empty where none is near.
std::string closest(const std::string& word, const std::vector<std::string>& words);

}  // namespace camshaft::settings
