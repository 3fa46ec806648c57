// What the page says of the schemas of /openapi.json. It touches no document, so that it can be tested without a browser.

/** Reads schemas that may refer to these. */
export function schemaReader(schemas) {
  const resolve = (schema) => (schema?.$ref ? (schemas[schema.$ref.split("/").pop()] ?? {}) : (schema ?? {}));
  /** A schema that holds itself is followed once. */
  const entered = (schema, within) => (schema?.$ref ? [...within, schema.$ref] : within);
  const eitherOf = (real) => real.anyOf ?? real.oneOf;

  function typeOf(schema, within = []) {
    if (within.includes(schema?.$ref)) return "any";
    const known = entered(schema, within);
    const real = resolve(schema);
    if (real.enum) return real.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (real.const !== undefined) return JSON.stringify(real.const);
    const either = eitherOf(real);
    if (either) return [...new Set(either.map((one) => typeOf(one, known)))].join(" | ");
    if (real.type === "array") {
      const item = typeOf(real.items, known);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    if (real.format) return `${real.type} (${real.format})`;
    return Array.isArray(real.type) ? real.type.join(" | ") : (real.type ?? "any");
  }

  /** Each member at any depth, by its path: `budget.hard_stop`, `rules[].message`, `text.*` for names the caller chooses. */
  function membersOf(schema, path = "", within = []) {
    if (within.includes(schema?.$ref)) return [];
    const known = entered(schema, within);
    const real = resolve(schema);
    const either = eitherOf(real);
    if (either) return distinct(either.flatMap((one) => membersOf(one, path, known)));
    if (real.type === "array") return membersOf(real.items, `${path}[]`, known);
    const named = Object.entries(real.properties ?? {}).flatMap(([name, member]) => {
      const at = path === "" ? name : `${path}.${name}`;
      return [
        { name: at, type: typeOf(member), required: real.required?.includes(name) ?? false, about: resolve(member).description ?? "" },
        ...membersOf(member, at, known),
      ];
    });
    const others =
      typeof real.additionalProperties === "object" ? membersOf(real.additionalProperties, path === "" ? "*" : `${path}.*`, known) : [];
    return [...named, ...others];
  }

  return { resolve, typeOf, membersOf };
}

/** What alternatives have in common is told once. */
function distinct(members) {
  const told = new Set();
  return members.filter((member) => {
    const key = JSON.stringify(member);
    return !told.has(key) && told.add(key);
  });
}
