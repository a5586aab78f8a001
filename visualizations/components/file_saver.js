watch("value", () => {
  const file = props.value;
  if (!file || !file.text) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: file.type }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
