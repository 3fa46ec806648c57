/**
 * The server that the conformance suite expects: one table of tools, prompts and resources, which each fixture serves in its own dialect.
 * `Session` hides what differs between the dialects: how a client is asked for input and sent progress.
 */

interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Record<string, unknown>;
}

export interface Session {
  readonly progressToken: string | number | undefined;
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  log(data: string): Promise<void>;
  /** Sends all these requests to the client; with `stated`, also state that the client has to return. */
  ask(requests: Record<string, InputRequest>, stated?: boolean): Promise<Record<string, any>>;
  /** Whether the client declares this capability. */
  can(capability: string): boolean;
  /** Notifies subscribers that a list has changed. */
  changed(list: "tools" | "prompts"): void;
}

type Content = Record<string, unknown>;

export interface ToolFixture {
  readonly description: string;
  readonly properties?: Record<string, "string" | "object">;
  run(session: Session, args: Record<string, any>): Promise<Content[]>;
}

const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const AUDIO = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const text = (value: string): Content[] => [{ type: "text", text: value }];
const image = { type: "image", data: IMAGE, mimeType: "image/png" };
const embedded = (uri: string, value: string, mimeType = "text/plain") => ({ type: "resource", resource: { uri, mimeType, text: value } });
const tool = (description: string, run: ToolFixture["run"], properties?: ToolFixture["properties"]): ToolFixture => ({
  description,
  run,
  ...(properties === undefined ? {} : { properties }),
});
const soon = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

function form(message: string, properties: Record<string, unknown>, required: string[] = Object.keys(properties)): InputRequest {
  return { method: "elicitation/create", params: { message, requestedSchema: { type: "object", properties, required } } };
}

function sampling(question: string, maxTokens = 100): InputRequest {
  return {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: question } }], maxTokens },
  };
}

const ROOTS: InputRequest = { method: "roots/list", params: {} };
const STRING = { type: "string" };

const outcome = (what: string, answer: any) => text(`${what}: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);

const choices = (...pairs: [string, string][]) => pairs.map(([value, title]) => ({ const: value, title }));

export const TOOLS: Readonly<Record<string, ToolFixture>> = {
  test_simple_text: tool("Gives a text", async () => text("This is a simple text response for testing.")),
  test_image_content: tool("Gives an image", async () => [image]),
  test_audio_content: tool("Gives a sound", async () => [{ type: "audio", data: AUDIO, mimeType: "audio/wav" }]),
  test_embedded_resource: tool("Gives a resource", async () => [
    embedded("test://embedded-resource", "This is an embedded resource content."),
  ]),
  test_multiple_content_types: tool("Gives three kinds of content", async () => [
    ...text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
  ]),
  test_error_handling: tool("Fails", async () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  test_tool_with_logging: tool("Logs while it works", async (session) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await session.log(line);
      await soon();
    }
    return text("Tool with logging executed successfully");
  }),
  test_tool_with_progress: tool("Tells how far it is", async (session) => {
    const progressToken = session.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await session.notify("notifications/progress", { progressToken, progress, total: 100, message: `${progress} of 100` });
      await soon();
    }
    return text(String(progressToken));
  }),
  test_reconnection: tool("Answers after a while", async () => {
    await soon(100);
    return text("Reconnection test completed successfully.");
  }),
  test_sampling: tool(
    "Asks the client's model",
    async (session, { prompt }) => text(`LLM response: ${(await session.ask({ answer: sampling(prompt) })).answer.content.text}`),
    { prompt: "string" },
  ),
  test_elicitation: tool(
    "Asks the user",
    async (session, { message }) =>
      outcome(
        "User response",
        (await session.ask({ answer: form(message, { response: { type: "string", description: "User's response" } }) })).answer,
      ),
    { message: "string" },
  ),
  test_elicitation_sep1034_defaults: tool("Asks with defaults", async (session) => {
    const { answer } = await session.ask({
      answer: form(
        "Please review and update the form fields with defaults",
        {
          name: { type: "string", description: "User name", default: "John Doe" },
          age: { type: "integer", description: "User age", default: 30 },
          score: { type: "number", description: "User score", default: 95.5 },
          status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", description: "Verification status", default: true },
        },
        [],
      ),
    });
    return outcome("Elicitation completed", answer);
  }),
  test_elicitation_sep1330_enums: tool("Asks for choices", async (session) => {
    const { answer } = await session.ask({
      answer: form(
        "Please select options from the enum fields",
        {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: {
            type: "string",
            oneOf: choices(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]),
          },
          legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
          untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: {
            type: "array",
            minItems: 1,
            maxItems: 3,
            items: { anyOf: choices(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]) },
          },
        },
        [],
      ),
    });
    return outcome("Elicitation completed", answer);
  }),
  test_missing_capability: tool("Needs a client with a model", async (session) =>
    text((await session.ask({ answer: sampling("Are you there?") })).answer.content.text),
  ),
  test_logging_tool: tool("Logs", async (session) => {
    await session.log("A line of the log");
    return text("Logged.");
  }),
  test_streaming_elicitation: tool("Tells how far it is, then asks", async (session) => {
    if (session.progressToken !== undefined)
      await session.notify("notifications/progress", { progressToken: session.progressToken, progress: 1, total: 2 });
    return outcome("User response", (await session.ask({ answer: form("Go on?", { ok: { type: "boolean" } }) })).answer);
  }),
  test_trigger_tool_change: tool("Changes the tools", async (session) => {
    session.changed("tools");
    return text("Changed.");
  }),
  test_trigger_prompt_change: tool("Changes the prompts", async (session) => {
    session.changed("prompts");
    return text("Changed.");
  }),
  test_input_required_result_elicitation: tool("Asks for a name", async (session) =>
    text(`Hello, ${(await session.ask({ user_name: form("What is your name?", { name: STRING }) })).user_name.content?.name}!`),
  ),
  test_input_required_result_sampling: tool("Asks the client's model for a capital", async (session) =>
    text((await session.ask({ capital_question: sampling("What is the capital of France?") })).capital_question.content.text),
  ),
  test_input_required_result_list_roots: tool("Asks for the roots", async (session) =>
    text(JSON.stringify((await session.ask({ client_roots: ROOTS })).client_roots.roots)),
  ),
  test_input_required_result_request_state: tool("Asks with state", async (session) => {
    await session.ask({ confirm: form("Please confirm", { ok: { type: "boolean" } }) }, true);
    return text("state-ok");
  }),
  test_input_required_result_multiple_inputs: tool("Asks three things at once", async (session) => {
    const answers = await session.ask(
      { user_name: form("What is your name?", { name: STRING }), greeting: sampling("Generate a greeting", 50), client_roots: ROOTS },
      true,
    );
    return text(`${answers.greeting.content.text} ${answers.user_name.content?.name} ${answers.client_roots.roots.length}`);
  }),
  test_input_required_result_multi_round: tool("Asks twice", async (session) => {
    const { step1 } = await session.ask({ step1: form("Step 1: What is your name?", { name: STRING }) }, true);
    const { step2 } = await session.ask({ step2: form("Step 2: What is your favorite color?", { color: STRING }) }, true);
    return text(`${step1.content?.name} likes ${step2.content?.color}`);
  }),
  test_input_required_result_tampered_state: tool("Asks with state nobody may change", async (session) => {
    await session.ask({ confirm: form("Please confirm", { ok: { type: "boolean" } }) }, true);
    return text("The state is as it was given.");
  }),
  test_input_required_result_capabilities: tool("Asks only what the client can answer", async (session) => {
    const requests: Record<string, InputRequest> = {};
    if (session.can("sampling")) requests.question = sampling("What is the capital of France?");
    if (session.can("elicitation")) requests.user_name = form("What is your name?", { name: STRING });
    await session.ask(requests);
    return text("Answered.");
  }),
  json_schema_2020_12_tool: tool(
    "Has a schema of its own",
    async (_session, args) => text(`JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`),
    { name: "string", address: "object" },
  ),
};

export interface PromptFixture {
  readonly description: string;
  readonly args?: readonly string[];
  run(session: Session, args: Record<string, string>): Promise<Content[]>;
}

export const PROMPTS: Readonly<Record<string, PromptFixture>> = {
  test_simple_prompt: { description: "A prompt", run: async () => text("This is a simple prompt for testing.") },
  test_prompt_with_arguments: {
    description: "A prompt with arguments",
    args: ["arg1", "arg2"],
    run: async (_session, { arg1, arg2 }) => text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  },
  test_prompt_with_embedded_resource: {
    description: "A prompt with a resource",
    args: ["resourceUri"],
    run: async (_session, { resourceUri = "" }) => [
      embedded(resourceUri, "Embedded resource content for testing."),
      ...text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: { description: "A prompt with an image", run: async () => [image, ...text("Please analyze the image above.")] },
  test_input_required_result_prompt: {
    description: "A prompt that asks",
    run: async (session) =>
      text(
        `In the context of ${(await session.ask({ user_context: form("What context should the prompt use?", { context: STRING }) })).user_context.content?.context}`,
      ),
  },
};

export const RESOURCES: Readonly<Record<string, { readonly mimeType: string; readonly content: { text: string } | { blob: string } }>> = {
  "test://static-text": { mimeType: "text/plain", content: { text: "This is the content of the static text resource." } },
  "test://static-binary": { mimeType: "image/png", content: { blob: IMAGE } },
  "test://watched-resource": { mimeType: "text/plain", content: { text: "Watched resource content" } },
};

export const TEMPLATE = "test://template/{id}/data";

export function templated(id: string) {
  return { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) };
}

export const INFO = { name: "conformance-fixture", version: "1.0.0" };
