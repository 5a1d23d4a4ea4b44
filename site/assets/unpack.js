// Fetches a gzip file and unzips it beside Python's own thread, which has enough to do meanwhile; says each chunk's bytes as they pass.
onmessage = async ({ data: address }) => {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    const passing = new TransformStream({ transform(chunk, out) { out.enqueue(chunk); postMessage({ bytes: chunk.byteLength }); } });
    const content = await new Response(answer.body.pipeThrough(passing).pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    postMessage({ content }, [content]);
  } catch (error) { postMessage({ error: error.message }); }
  close();
};
