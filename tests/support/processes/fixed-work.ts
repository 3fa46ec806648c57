/**
 * The same work each time, of the kind that a start of the gateway consists of: source text is read and compiled, functions run that
 * nothing has warmed up, small objects come and go. Run as a process of its own, so that what it costs is told by its processor time.
 */
const sources = Array.from(
  { length: 6_000 },
  (_, i) =>
    `function f${i}(a,b){const o={x${i}:a,list:[a,b,"${i}"]};` +
    `if(o.list.length>${i % 5})return {...o,y:JSON.stringify(o)};return o.list.map((v)=>String(v)+"${i}")}`,
);
const functions = new Function(`${sources.join("\n")};return [${sources.map((_, i) => `f${i}`).join()}]`)() as ((
  a: number,
  b: number,
) => object)[];
for (let round = 0; round < 3; round++) for (const [index, run] of functions.entries()) run(index, round);
const transpiler = new Bun.Transpiler({ loader: "ts" });
for (let i = 0; i < sources.length; i += 15) transpiler.transformSync(sources.slice(i, i + 15).join("\n"));
