// The run on screen, for those who ask for it. A reload doesn't end it: see `reopen_script`.

watch("value", () => {
  const value = props.value;
  if (!remember("run", value)) remember("run", { missing: "too_large" });
  if (value && value.reopened) trigger("reopened");
});
onConnectionLost(() => remember("lost", true));
