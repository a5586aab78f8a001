"""Templates and word lists that `prompts.py` draws from."""

TRANSLATE = (
    "Translate German to English: {text}", "Translate German to English: {text}", "Translate German to English: {text}",
    "Translate German to English: {text}", "Translate the following sentence from German to English: {text}",
    "What does this German sentence mean in English? {text}", "Please translate into English:\n{text}",
    "Translate to English: \"{text}\"", "German: {text}\nEnglish:",
)
SUMMARISE = (
    "Summarize: {text}", "Summarize: {text}", "Summarize: {text}", "Summarize the following text in two sentences.\n\n{text}",
    "{text}\n\nTL;DR", "What is this text about?\n\n{text}", "Write a short summary of this article: {text}",
    "Give the key points of the text below as a list.\n\n{text}",
)
QUESTIONS = (
    "who was {person}?", "who is {person} and what is he known for?", "when was {person} born?", "where is {place}?", "where is {place} located?",
    "what is {thing} made of?", "what is a {thing} used for?", "what is the difference between {thing} and {other}?", "when was the {thing} invented?",
    "who invented the {thing}?", "what is the population of {place}?", "what does {thing} mean?", "how many people live in {place}?",
    "why is {place} famous?", "what language do they speak in {place}?", "when did the war in {place} end?", "who is the leader of {place}?",
    "where does the word {thing} come from?", "how do you make {thing}?", "what are the types of {thing}?", "who sang the song about {place}?",
    "who plays {name} in the movie about {place}?", "when does the new season of {name} start?", "who won the first game in {place}?",
    "what river runs through {place}?", "where can you find {thing} in the wild?", "how long does {thing} last?", "how old was {person} when he died?",
    "who wrote the book about {thing}?", "what year did {place} join the union?", "which country has the most {thing}?", "what is the meaning of {topic}?",
    "how does a {thing} work?", "is {thing} bad for you?", "what part of the body is the {thing}?", "what is {topic}?", "who discovered {topic}?",
    "where was the movie {name} filmed?", "how many episodes of {name} and {thing} are there?", "what is the name of the {thing} in {place}?",
)
WRITING = (
    "Write a diary entry about a week in {place}.", "Write a short story about a {thing} and a {other}.", "Write an email to {name} to move the meeting about {topic} to next week.",
    "Write a poem about {thing}.", "Describe a {thing} to someone who has never seen one.", "Write a persuasive letter to the mayor of {place} about {topic}.",
    "Write a review of a book on {topic}.", "Write a story that begins with the sentence: \"{name} never wanted the {thing}.\"", "Write a speech by {person}.",
    "Write a product description for a new {thing}.", "Write an introduction for an essay on {topic}.", "Write three headlines for an article about {topic} and {place}.",
    "Rewrite this in a formal tone: hey {name}, the {thing} broke again, can you send a new one before {n}?", "Write a dialogue between {person} and a {thing}.",
    "Help me write a thank-you note to {name} for the {thing}.", "Write a recipe with {thing} for {n} people.", "List {n} ideas for a party about {place}.",
    "Correct the spelling: {name} recieved a {thing} form his freind in {place} and definately wants an other one.",
)
ROLES = (
    "a medieval blacksmith", "a detective", "an impatient chef", "a friendly robot", "a doctor", "a sports commentator", "a math teacher", "a ship's captain",
    "a talking cat", "an astronaut", "a lawyer", "a famous physicist", "a travel guide", "a superhero", "a grandmother", "a startup founder", "a poet", "a spy",
)
ROLE_QUESTIONS = (
    "Pretend you are {role}. What do you think about {topic}?", "Act as {role} and explain what a {thing} is.", "You are {role}. Introduce yourself to {name}.",
    "Imagine you are {role} who lives in {place}. Describe your day.", "Speak like {person}. Why should we care about {topic}?",
    "Assume the role of {role}. {name} asks you for advice about {topic}. How do you answer?", "Stay in character as {role} from now on. Do you like {thing}?",
    "As {role}, tell me the story of how you lost your {thing}.",
)
CODE_TASKS = (
    "Write a Python function that removes the empty lines of a file.", "Write a {language} function that reverses a linked list.",
    "Write a {language} program that prints the first {m} prime numbers.", "How do I read a CSV file in {language}?", "Implement binary search in {language}.",
    "Write a function in {language} to find the largest {n} numbers in a list.", "Explain what recursion is with a {language} example.",
    "Write a regular expression for dates such as 2024-05-17, and explain it.", "Write a SQL query that returns the {n} best paid people in each department.",
    "Write HTML for a page about {place} with a button.", "Write a {language} class for a {thing} with a name and a price.", "What is wrong with this code?\n\ndef f(x):\n    if x = {n}:\n        return x\n    f(x - 1)",
    "Write unit tests for a {language} function that adds two numbers.", "Write a {language} function that checks whether a string is a palindrome.",
    "Write a {language} program that asks for a name and greets {name}.", "How do I sort a dictionary by value in {language}?", "Implement a queue with two stacks in {language}.",
    "Write a {language} function to compute the {n}th Fibonacci number with memory.", "Write a bash script that renames all files in a folder.",
    "Write a {language} function that merges two dictionaries and adds up equal keys.",
)
LANGUAGES = ("Python", "Python", "Python", "C++", "JavaScript", "Java", "C", "Go", "Rust")
PUZZLES = (
    "{name} is taller than the {thing} seller and shorter than {person}. Who is the tallest?", "If all {thing} are {other} and some {other} are red, are all {thing} red?",
    "You have {n} {thing} and {m} boxes. Is it possible to put each in its own box? Explain.", "Sort these from small to large and say why: {thing}, {other}, the moon, {place}.",
    "{name} says that the {thing} is behind the {other}. Where is the {other}?", "A {thing} costs $1 more than a {other}. Together they cost ${m}. What does the {other} cost?",
    "{name} walks {n} blocks north, turns right and walks {n} blocks more. How does {name} get back?", "{name} gives every one of {n} friends a {thing} and keeps two. How many were there?",
    "If it takes {n} people {n} hours to build a {thing}, how long does it take {m} people?", "{name} parked on the left of {person}. Who is on the right?", "What comes next: 2, 4, 8, 16?",
    "Is it safe to eat {thing} with {other}? Give your reasons step by step.", "Can a {thing} fit into a {other}? Think step by step.",
)
EXTRACTIONS = (
    "List the names of people and places in the text.", "Extract all numbers and dates from this text.", "Return the five most important words of the text as a JSON array.",
    "Find all nouns in the following text.", "Rate the mood of this text from 1 to 5 and explain.", "Which facts are in this text? Use bullet points.", "Is the text about science, politics, or sports? Answer with one word.",
    "From the text below, make a table with the columns name and description.", "Who or what is the text about? Quote the sentence that says so.", "Give the text a title.",
    "Copy the first sentence of the text.", "Write three questions that the text answers, with their answers.",
)
FOLLOW_UPS = (
    "Can you say that in simpler words?", "Rewrite your answer as a list.", "Give me an example.", "Why?", "Now make it shorter.", "Translate your answer to German.",
    "What about {place}?", "How is this related to {topic}?", "Are you sure? Check it again.", "Write it as a poem.", "Explain it to a five-year-old child.", "Now rewrite it for {role}.",
    "Thanks! What is {topic}?", "Continue.", "Use {n} sentences at most.", "What are the disadvantages?", "Repeat your answer, but start every sentence with A.", "Who is {person}?",
)
OPENINGS = (
    "(CNN) -- ", "({place}) — A {thing}", "By {name}", "LONDON (Reuters) - ", "{place} is", "The {thing} is", "{person} was", "The history of {topic}", "{topic} is", "How to make a {thing}",
    "Chapter {n}\n\n", "The police in {place} said on Tuesday", "{name} {name} scored", "A new study of {topic}", "Scientists have found", "It was a dark night in {place}", "Q: What is {topic}?\nA:",
    "import ", "def ", "The {place} team", "President", "In {place}, ", "For {n} years, ", "A {name} man was", "The government of {place}", "Breaking news: ", "", "", "What is {thing}?\n", "The new season of {name}",
)
FIRST_NAMES = (
    "Anna", "Ben", "Carla", "Daniel", "Ella", "Farid", "Grace", "Hugo", "Ines", "Jack", "Kira", "Liam", "Maria", "Noah", "Olga", "Paul", "Quinn", "Rosa", "Sam", "Tina", "Umar", "Vera",
    "Will", "Xena", "Yusuf", "Zoe", "Emma", "John", "James", "Mary", "Mike", "Lisa", "Tom", "Kate", "Jen", "Bob", "Sarah", "Tim", "Lucy", "Mark",
)
GOODS = (
    "apples", "books", "pencils", "cookies", "marbles", "tickets", "eggs", "flowers", "shirts", "candies", "cups", "stickers", "chairs", "bottles", "toys", "cards", "oranges", "pizzas", "cakes", "balloons",
    "coins", "lamps", "cars", "dogs", "pens", "bags", "plants", "bananas", "phones", "games",
)
SCIENCE = (
    "photosynthesis", "gravity", "black holes", "quantum entanglement", "plate tectonics", "evolution", "DNA replication", "climate change", "neural networks", "machine learning", "vaccines", "electric motors",
    "the periodic table", "thermodynamics", "the water cycle", "antibiotic resistance", "the immune system", "entropy", "superconductors", "genetic engineering", "ecosystems", "volcanoes", "the big bang", "acids and bases",
    "radioactivity", "solar power", "the speed of light", "probability", "cryptography", "operating systems", "blockchain", "satellites", "bridges", "earthquakes", "the human brain", "sleep", "nutrition", "stem cells",
    "renewable energy", "chemical bonds", "fluid dynamics", "robotics", "the greenhouse effect", "statistics", "calculus", "databases", "computer networks", "lasers", "magnetism", "batteries",
)
HUMANITIES = (
    "the Roman Empire", "the Industrial Revolution", "democracy", "the Renaissance", "World War II", "the Cold War", "inflation", "monetary policy", "free trade", "human rights", "stoicism", "existentialism",
    "the French Revolution", "colonialism", "feminism", "the printing press", "Shakespeare", "romanticism", "jazz", "modern art", "ancient Egypt", "the Silk Road", "the Black Death", "capitalism", "socialism", "Buddhism",
    "the Enlightenment", "propaganda", "globalization", "unemployment", "the stock market", "urbanization", "migration", "education", "the Olympic Games", "film", "social media", "mythology", "ethics", "language",
    "folk music", "architecture", "the United Nations", "advertising", "poverty", "the American Civil War", "tourism", "family", "friendship", "happiness",
)
