import { pythonLiteral } from "./python.ts";
import { asksForStream, jsonValue, type SampleRequest } from "./sample-request.ts";

interface VendorClient {
  readonly vendor: string;
  readonly module: string;
  readonly name: string;
  /** The client's base URL, relative to the gateway's address. */
  readonly base: string;
  readonly call: string;
}

const OPENAI = { vendor: "OpenAI SDK", module: "openai", name: "OpenAI", base: "/v1/proxy/llm" } as const;

/** Paths for which a vendor's SDK has a method. */
const CALLS: Readonly<Record<string, VendorClient>> = {
  "/v1/proxy/llm/chat/completions": { ...OPENAI, call: "chat.completions.create" },
  "/v1/proxy/llm/responses": { ...OPENAI, call: "responses.create" },
  "/v1/proxy/llm/embeddings": { ...OPENAI, call: "embeddings.create" },
  "/v1/messages": { vendor: "Anthropic SDK", module: "anthropic", name: "Anthropic", base: "", call: "messages.create" },
};

/** The request with the vendor's own SDK, in Python and JavaScript; empty if no SDK has a method for it. */
export function sdkSamples({ method, url, credential, body }: SampleRequest): readonly { language: string; code: string }[] {
  const { origin, pathname } = new URL(url);
  const known = CALLS[pathname];
  const value = body?.kind === "json" ? jsonValue(body.text) : undefined;
  if (known === undefined || method !== "POST" || typeof value !== "object" || value === null || credential === null) return [];
  const { vendor, module, name, base, call } = known;
  const streams = asksForStream(body);
  const python = [
    "import os",
    "",
    `from ${module} import ${name}`,
    "",
    `client = ${name}(base_url="${origin}${base}", api_key=os.environ["${credential}"])`,
    `answer = client.${call}(**${pythonLiteral(value)})`,
    ...(streams ? ["for event in answer:", "    print(event)"] : ["print(answer)"]),
  ];
  const javaScript = [
    `import ${name} from "${module === "openai" ? "openai" : "@anthropic-ai/sdk"}";`,
    "",
    `const client = new ${name}({ baseURL: "${origin}${base}", apiKey: process.env.${credential} });`,
    `const answer = await client.${call}(${JSON.stringify(value, null, 2)});`,
    streams ? "for await (const event of answer) console.log(event);" : "console.log(answer);",
  ];
  return [
    { language: `${vendor} (Python)`, code: python.join("\n") },
    { language: `${vendor} (JavaScript)`, code: javaScript.join("\n") },
  ];
}
