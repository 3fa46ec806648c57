// Draws /openapi.json as a page that can be read and tried. Plain browser JavaScript, nothing fetched from elsewhere.

const { schemaReader } = await import("./schemas.js");

const at = (id) => document.getElementById(id);

/** An element with its text or children. Text is always set as text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const api = await read("/openapi.json").catch((error) => {
  at("about").textContent = `The description of the API could not be read (${error.message}). Load the page again.`;
  throw error;
});
at("about").textContent = api.info.description.replaceAll("`", "");
const { resolve, typeOf, membersOf } = schemaReader(api.components.schemas);

async function read(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  return response.json();
}

function table(members) {
  const body = make("tbody");
  for (const { name, type, required, about } of members) {
    body.append(make("tr", {}, make("td", {}, name + (required ? " *" : "")), make("td", {}, type), make("td", { class: "soft" }, about)));
  }
  return make("div", { class: "table" }, make("table", {}, body));
}

function schemaTable(schema) {
  const members = membersOf(schema);
  return members.length === 0 ? make("p", { class: "soft" }, typeOf(schema)) : table(members);
}

const parameterRow = ({ name, schema, required, in: place, description }) => ({
  name,
  type: typeOf(schema),
  required,
  about: [place, description].filter(Boolean).join(": "),
});

/** A body to begin with: the required members. */
function sample(schema, depth = 0) {
  const real = resolve(schema);
  if (real.properties && depth < 4) {
    return Object.fromEntries((real.required ?? []).map((name) => [name, sample(real.properties[name], depth + 1)]));
  }
  if (real.enum) return real.enum[0];
  const either = real.anyOf ?? real.oneOf;
  if (either) return sample(either[0], depth + 1);
  return { string: "", integer: 0, number: 0, boolean: true, array: [], object: {} }[real.type] ?? null;
}

/** The JSON laid out, each number in the digits it came with where the browser can tell them. */
function laidOut(json) {
  const asWritten = (_name, value, context) =>
    typeof value === "number" && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
  return JSON.stringify(JSON.parse(json, asWritten), null, 2);
}

function tryForm(method, path, operation) {
  const form = make("form");
  const inputs = (operation.parameters ?? []).map((parameter) => {
    const input = make("input", { placeholder: typeOf(parameter.schema), ...(parameter.required ? { required: "" } : {}) });
    form.append(make("label", {}, `${parameter.name} (${parameter.in})`, input));
    return [parameter, input];
  });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema && make("textarea", { rows: "6", spellcheck: "false" });
  if (body) {
    body.value = JSON.stringify(sample(schema), null, 2);
    form.append(make("label", { class: "wide" }, "body", body));
  }
  const [part] = Object.keys(operation.requestBody?.content["multipart/form-data"]?.schema.properties ?? {});
  const upload = part && make("input", { type: "file" });
  if (upload) form.append(make("label", {}, part, upload));
  const answer = make("pre", { hidden: "", role: "status" });
  form.append(make("button", {}, "Send"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const url = new URL(
      path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(inputs.find(([parameter]) => parameter.name === name)[1].value)),
      location.origin,
    );
    const headers = {};
    if (at("token").value) headers.authorization = `Bearer ${at("token").value}`;
    for (const [parameter, input] of inputs) {
      if (input.value === "") continue;
      if (parameter.in === "query") url.searchParams.set(parameter.name, input.value);
      if (parameter.in === "header") headers[parameter.name] = input.value;
    }
    if (body?.value.trim()) headers["content-type"] = "application/json";
    let sent = body?.value.trim() || undefined;
    if (upload?.files[0]) {
      sent = new FormData();
      sent.append(part, upload.files[0]);
    }
    answer.hidden = false;
    answer.textContent = "...";
    try {
      const response = await fetch(url, { method: method.toUpperCase(), headers, ...(sent === undefined ? {} : { body: sent }) });
      const text = await response.text();
      let shown = text;
      try {
        shown = laidOut(text);
      } catch {
        // Not every answer is JSON.
      }
      answer.textContent = `${response.status} ${response.statusText}\n\n${shown}`;
    } catch (error) {
      answer.textContent = String(error);
    }
  });
  return make("div", {}, form, answer);
}

function inside(method, path, operation) {
  const content = make("div", { class: "inside" });
  if (operation.description) content.append(make("p", {}, operation.description));
  content.append(make("p", { class: "soft" }, `Who may call: ${operation["x-access"].replace("_", " ")}`));
  if (operation.parameters?.length) {
    content.append(make("h3", {}, "Parameters"), table(operation.parameters.map(parameterRow)));
  }
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  if (body) content.append(make("h3", {}, "Body"), schemaTable(body));
  for (const [status, response] of Object.entries(operation.responses)) {
    if (status === "default") continue;
    content.append(make("h3", {}, `Answer ${status}: ${response.description}`));
    const schema = response.content?.["application/json"]?.schema;
    if (schema) content.append(schemaTable(schema));
  }
  content.append(make("h3", {}, "Try it"), tryForm(method, path, operation));
  return content;
}

const shownOperations = [];
for (const { name: tag } of api.tags) {
  const links = make("div", {}, make("h2", {}, tag));
  const section = make("section", {}, make("h2", {}, tag));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!operation.tags.includes(tag)) continue;
      const details = make(
        "details",
        { id: operation.operationId },
        make(
          "summary",
          {},
          make("span", { class: "method" }, method.toUpperCase()),
          make("span", { class: "path" }, path),
          make("span", { class: "says" }, operation.summary),
        ),
      );
      // Drawn when it is opened: all of them at once would make the page slow on a phone.
      details.addEventListener(
        "toggle",
        () => details.open && !details.querySelector(".inside") && details.append(inside(method, path, operation)),
      );
      const link = make("a", { href: `#${operation.operationId}` }, operation.summary);
      link.addEventListener("click", () => (details.open = true));
      links.append(link);
      section.append(details);
      shownOperations.push({ text: `${method} ${path} ${operation.summary} ${tag}`.toLowerCase(), details, link });
    }
  }
  at("index").append(links);
  at("operations").append(section);
}

at("find").addEventListener("input", () => {
  const words = at("find").value.toLowerCase().split(/\s+/);
  for (const { text, details, link } of shownOperations) details.hidden = link.hidden = !words.every((word) => text.includes(word));
  for (const group of document.querySelectorAll("main > section, #index > div"))
    group.hidden = ![...group.children].some((child) => child.tagName !== "H2" && !child.hidden);
});

if (location.hash) {
  const linked = at(location.hash.slice(1));
  if (linked) {
    linked.open = true;
    linked.scrollIntoView();
  }
}

at("session").addEventListener("submit", async (event) => {
  event.preventDefault();
  const tenant = at("tenant").value.trim();
  const given = { username: at("username").value, password: at("password").value, ...(tenant ? { tenant_id: tenant } : {}) };
  const says = at("session-says");
  says.textContent = "...";
  try {
    const response = await fetch(`/v1/admin-users/${tenant ? "tenant" : "system"}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(given),
    });
    const answer = await response.json();
    says.textContent = response.ok ? `Signed in as ${answer.user.username} (${answer.user.role})` : (answer.detail ?? answer.error);
    if (!response.ok) return;
    at("token").value = answer.access_token;
    at("password").value = "";
  } catch (error) {
    says.textContent = `The gateway did not answer (${error.message}).`;
  }
});
