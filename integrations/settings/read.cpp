#include "settings/read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <sstream>

namespace camshaft::settings {
namespace {

// As Python writes it; empty for what is more than a number, a word or a truth.
std::string shown(const Json& value) {
  if (value.is_string()) return "'" + value.get<std::string>() + "'";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.is_number() ? value.dump() : "";
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + separator.size()) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::string stripped(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

template <class T>
std::optional<T> numberIn(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> keysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, unused] : object.items()) keys.push_back(key);
  return keys;
}

// "'a', 'b' or 'c'"
std::string choicesText(const Json& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + shown(choices[i]);
  return text;
}

std::string shapeText(const Json& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const Json& size : shape) text += (text.empty() ? "" : "x") + size.dump();
  return text;
}

std::string rangeText(const Json& range) {
  const std::string min = shapeText(range["min"]), opt = shapeText(range["opt"]),
                    max = shapeText(range["max"]);
  return min == opt && opt == max ? min : min + ".." + opt + ".." + max;
}

// Reads values by their schema; what is wrong is collected, and the value is null then.
class Reader {
 public:
  explicit Reader(const Json& root) : root_(root) {}

  Json read(const Json& schema, const Json& value, const std::string& where) {
    if (schema.contains("refused"))
      return problem(where, "cannot be set here: " + schema["refused"].get<std::string>(), {});
    if (schema.contains("$ref")) return read(definition(schema["$ref"]), value, where);
    if (schema.contains("format")) return readFormat(schema["format"], value, where);
    if (schema.contains("anyOf")) return readAnyOf(schema["anyOf"], value, where);
    if (schema.contains("enum")) return readChoice(schema["enum"], value, where);
    const std::string type = schema.value("type", "");
    if (type == "object" && schema.contains("properties")) return readGroup(schema, value, where);
    if (type == "object") return readByName(schema, value, where);
    if (type == "array") return readList(schema, value, where, "list");
    if (type == "integer") return readInteger(schema, value, where);
    if (type == "number") return readNumber(value, where);
    if (type == "boolean") return readBoolean(value, where);
    return value.is_string() ? value : problem(where, "should be a valid string", value);
  }

  void throwProblems() const {
    if (problems_.empty()) return;
    std::string text;
    for (const std::string& one : problems_) text += (text.empty() ? "" : "\n") + one;
    throw SettingsError(text);
  }
  bool hasProblems() const { return !problems_.empty(); }

  Json problem(const std::string& where, const std::string& what, const Json& given) {
    const std::string text = shown(given);
    problems_.push_back(where + (where.empty() ? "" : " ") + what +
                        (text.empty() ? "" : ", not " + text));
    return nullptr;
  }

 private:
  const Json& definition(const std::string& reference) const {
    return root_.at("$defs").at(reference.substr(reference.rfind('/') + 1));
  }

  void refuseKey(const std::string& where, const std::string& key,
                 const std::vector<std::string>& known) {
    constexpr size_t kFew = 10;
    const std::string near = closest(key, known);
    std::string hint = near.empty() ? "" : "; did you mean '" + near + "'?";
    if (near.empty() && known.size() < kFew) {
      hint = "; there is ";
      for (size_t i = 0; i < known.size(); ++i) hint += (i == 0 ? "" : ", ") + known[i];
    }
    problem(where, "is no setting" + hint, {});
  }

  static std::string inside(const std::string& where, const std::string& key) {
    return where.empty() ? key : where + "." + key;
  }

  Json readGroup(const Json& schema, const Json& value, const std::string& where) {
    if (!value.is_object())
      return problem(
          where,
          "should be a valid dictionary or instance of " + schema.value("title", std::string()),
          value);
    const Json& fields = schema["properties"];
    Json made = Json::object();
    for (const auto& [key, field] : fields.items())
      if (value.contains(key)) made[key] = read(field, value[key], inside(where, key));
    for (const auto& [key, unused] : value.items())
      if (!fields.contains(key)) refuseKey(inside(where, key), key, keysOf(fields));
    return made;
  }

  Json readByName(const Json& schema, const Json& value, const std::string& where) {
    if (!value.is_object()) return problem(where, "should be a valid dictionary", value);
    Json made = Json::object();
    for (const auto& [key, item] : value.items()) {
      if (schema.contains("propertyNames"))
        readChoice(schema["propertyNames"]["enum"], key, inside(where, key) + ".[key]");
      made[key] = read(schema["additionalProperties"], item, inside(where, key));
    }
    return made;
  }

  Json readList(const Json& schema, const Json& value, const std::string& where,
                const std::string& what) {
    if (!value.is_array()) return problem(where, "should be a valid " + what, value);
    Json made = Json::array();
    for (size_t i = 0; i < value.size(); ++i)
      made.push_back(
          read(schema.contains("prefixItems") ? schema["prefixItems"][0] : schema["items"],
               value[i], where + "[" + std::to_string(i) + "]"));
    return made;
  }

  // Null or one other thing; or a list that may be a text with commas, or one number.
  Json readAnyOf(const Json& alternatives, const Json& value, const std::string& where) {
    const auto typed = [&](const char* type) {
      return std::find_if(alternatives.begin(), alternatives.end(),
                          [&](const Json& each) { return each.value("type", "") == type; });
    };
    if (typed("null") != alternatives.end()) {
      if (value.is_null()) return value;
      const auto other =
          std::find_if(alternatives.begin(), alternatives.end(),
                       [](const Json& each) { return each.value("type", "") != "null"; });
      return read(*other, value, where);
    }
    Json items = value;
    if (value.is_string()) items = words(value);
    if (value.is_number())
      items = typed("number") != alternatives.end() ? Json::array({value}) : value;
    return readList(*typed("array"), items, where, "tuple");
  }

  static Json words(const std::string& text) {
    Json made = Json::array();
    for (const std::string& part : split(text, ","))
      if (const std::string word = stripped(part); !word.empty()) made.push_back(word);
    return made;
  }

  Json readChoice(const Json& choices, const Json& value, const std::string& where) {
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
    return problem(where, "should be " + choicesText(choices), value);
  }

  Json readBoolean(const Json& value, const std::string& where) {
    if (value.is_boolean()) return value;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::string small = text;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word : {"true", "t", "yes", "y", "on", "1"})
      if (small == word) return true;
    for (const char* word : {"false", "f", "no", "n", "off", "0"})
      if (small == word) return false;
    const bool canBe = value.is_string() || value.is_number_integer();
    return problem(where,
                   canBe ? "should be a valid boolean, unable to interpret input"
                         : "should be a valid boolean",
                   value);
  }

  Json readInteger(const Json& schema, const Json& value, const std::string& where) {
    std::optional<int64_t> number;
    if (value.is_boolean()) number = value.get<bool>() ? 1 : 0;
    if (value.is_number_integer()) number = value.get<int64_t>();
    if (value.is_number_float()) {
      const double real = value.get<double>();
      if (real != std::floor(real))
        return problem(where, "should be a valid integer, got a number with a fractional part",
                       value);
      number = static_cast<int64_t>(real);
    }
    if (value.is_string()) number = numberIn<int64_t>(stripped(value));
    if (!number) return problem(where, "should be a valid integer", value);
    if (schema.contains("minimum") && *number < schema["minimum"].get<int64_t>())
      return problem(where, "should be greater than or equal to " + schema["minimum"].dump(),
                     value);
    if (schema.contains("maximum") && *number > schema["maximum"].get<int64_t>())
      return problem(where, "should be less than or equal to " + schema["maximum"].dump(), value);
    return *number;
  }

  Json readNumber(const Json& value, const std::string& where) {
    if (value.is_number()) return value.get<double>();
    if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
    if (value.is_string())
      if (const auto number = numberIn<double>(stripped(value))) return *number;
    return problem(where, "should be a valid number", value);
  }

  Json readFormat(const std::string& format, const Json& value, const std::string& where) {
    if (format == "bytes") return readBytes(value, where);
    if (format == "shape") return readShape(value, where);
    if (format == "shapes") return readRange(value, where);
    if (format == "interval") return readInterval(value, where);
    return problem(where, "is of format '" + format + "', which this library does not read", {});
  }

  // 4096, "512M" or "1.5 GiB".
  Json readBytes(const Json& value, const std::string& where) {
    if (!value.is_string()) return readInteger({{"minimum", 0}}, value, where);
    std::string text = stripped(value);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::toupper(c)); });
    const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = numberIn<double>(text.substr(0, end));
    const std::string unit = stripped(text.substr(end));
    static const std::map<std::string, int> kShifts = {
        {"", 0},     {"B", 0},  {"BB", 0},  {"BIB", 0},  {"IB", 0}, {"K", 10},  {"KB", 10},
        {"KIB", 10}, {"M", 20}, {"MB", 20}, {"MIB", 20}, {"G", 30}, {"GB", 30}, {"GIB", 30}};
    const auto shift = kShifts.find(unit);
    if (!number || shift == kShifts.end())
      return problem(where, "should be a number of bytes, such as 4096, 512M or 1.5G", value);
    return static_cast<int64_t>(*number * static_cast<double>(int64_t{1} << shift->second));
  }

  // [1, 3, 224, 224], "1x3x224x224", one number, or "scalar".
  Json readShape(const Json& value, const std::string& where) {
    Json sizes = value;
    if (value.is_number_integer()) sizes = Json::array({value});
    if (value.is_string()) {
      sizes = Json::array();
      const bool isScalar = value == "scalar" || value == "";
      for (const std::string& part : isScalar ? std::vector<std::string>() : split(value, "x")) {
        const auto size = numberIn<int64_t>(part);
        if (!size) return problem(where, "should be a shape such as 1x3x224x224", value);
        sizes.push_back(*size);
      }
    }
    return readList({{"items", {{"type", "integer"}, {"minimum", 0}}}}, sizes, where, "tuple");
  }

  // One shape for all; "min..max" or "min..opt..max"; or keys, of which some may be left out.
  Json readRange(const Json& value, const std::string& where) {
    Json bounds = value;
    if (value.is_string() && value.get<std::string>().find("..") != std::string::npos) {
      const std::vector<std::string> shapes = split(value, "..");
      if (shapes.size() > 3) return problem(where, "should be min..max or min..opt..max", value);
      bounds = {{"min", shapes.front()},
                {"opt", shapes[shapes.size() == 3 ? 1 : shapes.size() - 1]},
                {"max", shapes.back()}};
    } else if (value.is_string() || value.is_number_integer() || value.is_array()) {
      bounds = {{"opt", value}};
    }
    if (!bounds.is_object())
      return problem(where, "should be a valid dictionary or instance of ShapeRange", value);
    const std::vector<std::string> known = {"min", "opt", "max"};
    Json usual = Json::array();
    for (const char* key : {"min", "max", "opt"})  // the last of those that are there
      if (bounds.contains(key)) usual = bounds[key];
    const size_t before = problems_.size();
    Json range = Json::object();
    for (const std::string& key : known) {
      if (bounds.empty()) problem(inside(where, key), "is missing", {});
      range[key] = readShape(bounds.value(key, usual), inside(where, key));
    }
    for (const auto& [key, unused] : bounds.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        refuseKey(inside(where, key), key, known);
    return problems_.size() > before ? Json() : checkedRange(range, where);
  }

  Json checkedRange(const Json& range, const std::string& where) {
    const Json &min = range["min"], &opt = range["opt"], &max = range["max"];
    if (min.size() != opt.size() || opt.size() != max.size())
      return problem(where, "has min, opt and max of different ranks: " + rangeText(range), {});
    for (size_t i = 0; i < min.size(); ++i)
      if (min[i] > opt[i] || opt[i] > max[i])
        return problem(where,
                       "should have min <= opt <= max in every dimension: " + rangeText(range), {});
    return range;
  }

  // [-1.5, 1.5], "-1.5,1.5", or the largest of both signs.
  Json readInterval(const Json& value, const std::string& where) {
    Json ends = value.is_string() ? words(value) : value;
    if (ends.is_array() && ends.size() == 1) ends = ends[0];
    if (ends.is_string() || ends.is_number()) {
      const auto number = ends.is_number() ? std::optional<double>(ends.get<double>())
                                           : numberIn<double>(ends.get<std::string>());
      if (!number)
        return problem(where, "should be a lowest and a highest value such as -1.5,1.5", value);
      return {-std::abs(*number), std::abs(*number)};
    }
    if (ends.is_array() && ends.size() != 2)
      return problem(where, "should be a lowest and a highest value such as -1.5,1.5", {});
    return readList({{"items", {{"type", "number"}}}}, ends, where, "tuple");
  }

  const Json& root_;
  std::vector<std::string> problems_;
};

}  // namespace

Json readSettings(const Json& schema, const Json& given) {
  Reader reader(schema);
  Json made = reader.read(schema, given, "");
  const auto isGiven = [&](const char* key) { return made.contains(key) && !made[key].empty(); };
  if (!reader.hasProblems() && isGiven("shapes") && isGiven("profiles"))
    reader.problem("",
                   "shapes and profiles are both given: shapes is for one profile, and several are "
                   "all in profiles",
                   {});
  reader.throwProblems();
  return made;
}

Json parseText(const Json& schema, const std::string& key, const std::string& text) {
  const Json field = schema.at("properties").value(key, Json::object());
  const Json one = field.contains("anyOf") ? field["anyOf"][0] : field;
  if (one.value("type", "") == "string") return text;
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

}  // namespace camshaft::settings
