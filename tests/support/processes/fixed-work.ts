/**
 * A fixed amount of work like that of a gateway's start: source text is parsed and compiled, cold functions run, small objects are
 * allocated and collected. Runs as its own process, to be measured by its CPU time.
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
