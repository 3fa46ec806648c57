// A server of OpenAI's API for videos that films nothing: each job is done at once, and its file is the head of one.
import { createServer } from "node:http";

const HEAD = Buffer.from("000000186674797069736f6d0000020069736f6d6d703432", "hex");
const jobs = new Map();

createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const id = request.url.split("/")[2];
    const answer = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "POST") {
      const job = { id: `video-${jobs.size + 1}`, object: "video", model: "f1", created_at: 0, progress: 0, status: "queued" };
      jobs.set(job.id, job);
      return answer(200, job);
    }
    if (!jobs.has(id)) return answer(404, { error: { message: "There is no such video." } });
    if (request.url.endsWith("/content")) return response.writeHead(200, { "content-type": "video/mp4" }).end(HEAD);
    return answer(200, { ...jobs.get(id), progress: 100, status: "completed" });
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
