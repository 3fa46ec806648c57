// A scripted model of pictures for the guides, in OpenAI's format: node docs/guides/examples/pictures.mjs [port]
import { createServer } from "node:http";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { n = 1 } = JSON.parse(text);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ created: 0, data: Array.from({ length: n }, () => ({ b64_json: PIXEL })) }));
}).listen(Number(process.argv[2] ?? 9107), "127.0.0.1");
